// What is wrong with the page in the window, in words: it is wider than the window, something is cut, a picture is
// missing, a text is too pale (arguments[0]: the least contrast) or its picture makes it too small (arguments[1]).
const [least, smallest, sizes] = arguments, faults = new Set();
const width = document.documentElement.clientWidth;
const start = e => e.textContent.trim().replace(/\s+/g, ' ').slice(0, 40);
const hidden = e => !e.checkVisibility({opacityProperty: true, visibilityProperty: true});

const scrolls = e => {
  for (let p = e.parentElement; p && p !== document.body; p = p.parentElement)
    if (/auto|scroll|hidden|clip/.test(getComputedStyle(p).overflowX)) return true;
  return false;
};
if (document.documentElement.scrollWidth > width + 1) faults.add('wider than the window');
for (const e of document.querySelectorAll('p,h1,h2,h3,table,img,pre,li,nav,dl,figure,button')) {
  const box = e.getBoundingClientRect();
  if (box.width && box.right > width + 2 && box.left < width && !hidden(e) && !scrolls(e))
    faults.add(`cut at the edge: ${e.tagName} ${start(e)}`);
}
for (const e of document.querySelectorAll('td,th,a.card,button')) {
  if (e.clientWidth && e.scrollWidth > e.clientWidth + 2 && getComputedStyle(e).overflowX === 'visible' && !hidden(e)
      && getComputedStyle(e).display !== 'inline')
    faults.add(`wider than its box: ${e.tagName} ${start(e)}`);
}

for (const e of document.images) {
  if (e.complete && !e.naturalWidth) faults.add('no picture: ' + e.src);
  const [drawn, font] = sizes[e.currentSrc.split('/').pop()] || [];
  if (font && !e.closest('.card') && font * e.getBoundingClientRect().width / drawn < smallest)
    faults.add(`text of ${(font * e.getBoundingClientRect().width / drawn).toFixed(1)} px: ${e.currentSrc}`);
}

const parts = color => color.match(/[\d.]+/g).map(Number);
const linear = v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
const light = ([r, g, b]) => .2126 * linear(r) + .7152 * linear(g) + .0722 * linear(b);
const over = (top, below) => {
  const a = top[3] ?? 1;
  return [0, 1, 2].map(n => a * top[n] + (1 - a) * below[n]);
};
const behind = e => e ? over(parts(getComputedStyle(e).backgroundColor), behind(e.parentElement)) : [255, 255, 255];
const texts = document.createTreeWalker(document.querySelector('.md-content') || document.body, NodeFilter.SHOW_TEXT);
for (let n; (n = texts.nextNode());) {
  const e = n.parentElement;
  if (!n.textContent.trim() || e.closest('script,style,svg,.headerlink,:disabled') || hidden(e)) continue;
  const style = getComputedStyle(e), ground = behind(e), ink = parts(style.color);
  let opacity = 1;
  for (let p = e; p; p = p.parentElement) opacity *= getComputedStyle(p).opacity;
  const seen = over([...ink.slice(0, 3), (ink[3] ?? 1) * opacity], ground);
  const [a, b] = [light(seen), light(ground)].sort((x, y) => x - y), ratio = (b + .05) / (a + .05);
  if (ratio < least) faults.add(`pale, ${ratio.toFixed(1)}: ${e.tagName}.${e.className} ${start(n)}`);
}
return [...faults];
