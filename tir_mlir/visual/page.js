"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const steps = data.steps;
  const at = (id) => document.getElementById(id);
  const numbered = steps.filter((step) => step.kind === "step" || step.kind === "choice").length;
  const ASSERTED = "not proved, the caller asserts it: "; // the start of a fact that was taken, see diagnostics/proofs.py
  const refused = (step) => step.kind === "refused" || step.kind === "not provable";
  let current = 0;
  let block = 0;
  let level = 0;
  const iterations = new Map(); // by loop: the selected iteration, kept across steps
  let wanted = null; // the names of the selected block and loop, kept across steps

  function make(tag, text, className) {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (className) element.className = className;
    return element;
  }

  // text with `code` between backticks
  function addText(element, text) {
    text.split("`").forEach((part, n) => {
      if (part) element.append(n % 2 ? make("code", part) : part);
    });
    return element;
  }

  // the number of a step is that of the history; a refused step has none
  function label(step) {
    return refused(step) ? "\u2715" : String(step.number);
  }

  function titled(step) {
    const mark = refused(step) ? ` (${step.kind})` : "";
    const name = step.kind === "start" ? step.call : `${step.name} ${subject(step)}`.trim();
    return `${refused(step) ? label(step) : `${label(step)}.`} ${name}${mark}`;
  }

  // how the address of the page names a step
  function key(place) {
    const step = steps[place];
    if (!refused(step)) return String(step.number);
    let first = place;
    while (first > 0 && refused(steps[first - 1]) && steps[first - 1].number === step.number) first -= 1;
    return `${step.number}-refused${place > first ? `-${place - first + 1}` : ""}`;
  }

  function placeOf(hash) {
    const found = steps.findIndex((_, place) => key(place) === hash);
    return found < 0 ? 0 : found;
  }

  // the first loop, block or name in a call
  function subject(step) {
    const found = /^\w+\((?:\w+=)?[['"]*([^,'"\])]+)/.exec(step.call);
    return found ? found[1] : "";
  }

  // --- navigation -------------------------------------------------------------------------------------------------

  function buildSteps() {
    steps.forEach((step, number) => {
      const button = make("button", undefined, refused(step) ? "refused" : "");
      button.type = "button";
      button.title = step.call;
      const name = make("span", step.kind === "start" ? "as written" : step.name);
      if (step.kind !== "start") name.append(make("small", subject(step)));
      button.append(make("span", label(step)), name);
      if (step.time) button.append(make("span", step.time.short, "took"));
      if (refused(step)) button.setAttribute("aria-label", titled(step));
      button.addEventListener("click", () => go(number));
      const item = make("li");
      item.append(button);
      at("steps").append(item);
      const option = make("option", titled(step));
      option.value = String(number);
      at("choose").append(option);
    });
  }

  function go(number) {
    current = Math.max(0, Math.min(steps.length - 1, number));
    const step = steps[current];
    show(step);
    at("previous").disabled = current === 0;
    at("next").disabled = current === steps.length - 1;
    at("choose").value = String(current);
    at("steps").querySelectorAll("button").forEach((button, n) => {
      if (n === current) {
        button.setAttribute("aria-current", "step");
        keepInView(button);
      } else button.removeAttribute("aria-current");
    });
    at("status").textContent = `${position(step)}: ${step.call}`;
    markCharts();
    try {
      history.replaceState(null, "", `#${key(current)}`);
    } catch { /* the page has no URL */ }
  }

  function keepInView(button) {
    const list = button.closest("nav");
    const top = button.offsetTop - list.offsetTop;
    if (top < list.scrollTop || top + button.offsetHeight > list.scrollTop + list.clientHeight)
      list.scrollTop = top - list.clientHeight / 2;
  }

  // --- a step -----------------------------------------------------------------------------------------------------

  function position(step) {
    if (step.kind === "start") {
      const others = data.last - numbered;
      const lookups = others > 0 ? `, ${others} of them look-ups of blocks and loops, which are not shown` : "";
      return `${data.last} step${data.last === 1 ? "" : "s"}${lookups}`;
    }
    if (refused(step)) return step.number ? `Refused after step ${step.number}` : "Refused before the first step";
    return `Step ${step.number} of ${data.last}`;
  }

  function show(step) {
    const took = step.kind === "step" ? ` · applied in ${step.ms} ms` : "";
    at("position").textContent = position(step) + took;
    const title = at("call");
    title.replaceChildren();
    if (step.kind === "start") title.textContent = "The program as written";
    else title.append(step.name, make("span", step.call.slice(step.name.length), "arguments"));
    const source = at("source");
    source.replaceChildren();
    source.title = step.place;
    if (step.source) source.append(`${step.source}  `);
    if (step.line) source.append(make("b", step.line));
    at("summary").replaceChildren();
    addText(at("summary"), step.summary);
    showTime(step);
    showProof(step);
    showProgram(step);
    at("nest").innerHTML = data.pictures[step.nest];
    chooseTiles(step);
    showTiles();
    showCounts(step);
  }

  function showTime(step) {
    const box = at("time");
    box.replaceChildren();
    box.hidden = !step.time || (!step.time.long && !step.time.why);
    if (box.hidden) return;
    if (step.time.long) box.append(make("strong", step.time.long));
    else addText(box, `Cannot run: ${step.time.why}`);
  }

  function showProof(step) {
    const box = at("proof");
    box.replaceChildren();
    box.className = `proof ${refused(step) ? "refused" : step.kind}`;
    if (step.kind === "start") return;
    const unsafe = step.name.startsWith("unsafe_");
    const trusted = step.facts.filter(fact => fact.startsWith(ASSERTED));
    const word = { step: unsafe || trusted.length ? "Taken on trust" : "Legal", choice: "Sampled", refused: "Refused", "not provable": "Not provable" }[step.kind];
    const first = make("p");
    first.append(make("strong", `${word}. `));
    if (step.kind === "step") {
      const found = step.facts.length - trusted.length;
      first.append(unsafe ? "An unsafe step is not proved to keep the result; verify() checks it." :
        found ? "Proved for this program:" : trusted.length ? "" : !step.proves ? "Nothing had to be proved: the step changes no access and no order." :
        "What it requires, listed below, was checked.");
      box.append(first);
      if (found) {
        const list = make("ul");
        for (const fact of step.facts) if (!trusted.includes(fact)) list.append(addText(make("li"), fact));
        box.append(list);
      }
      for (const fact of trusted) box.append(addText(make("p"), fact[0].toUpperCase() + fact.slice(1) + "."));
      box.append(make("p", "The program after the step passed the verifier."));
    } else {
      addText(first, step.proof);
      box.append(first);
    }
    if (step.example && !step.proof.includes(step.example)) {
      const shown = make("p", "Counterexample: ");
      shown.append(make("code", step.example));
      box.append(shown);
    }
    if (step.fix) box.append(addText(make("p"), `Suggested fix: ${step.fix}`));
    if (step.rewrite || step.requires) {
      const more = make("details");
      more.append(make("summary", `What ${step.name} does and requires, for any program`));
      if (step.rewrite) more.append(make("pre", step.rewrite));
      if (step.requires) more.append(addText(make("p"), `Requires: ${step.requires}`));
      box.append(more);
    }
  }

  function showProgram(step) {
    const words = { "+": "new", "-": "gone", " ": "same", "!": "here" };
    const parts = step.program.map(([sign, line]) =>
      `<span class="line ${words[sign]}" data-sign="${sign}">${data.lines[line] || " "}\n</span>`);
    at("program").innerHTML = parts.join("");
    at("program").parentElement.scrollLeft = 0;
  }

  // --- tiles ------------------------------------------------------------------------------------------------------

  function chooseTiles(step) {
    const blocks = step.tiles.blocks;
    block = step.tiles.focus;
    if (wanted && blocks.some((b) => b.name === wanted.block)) block = blocks.findIndex((b) => b.name === wanted.block);
    if (!blocks.length) return;
    level = blocks[block].level;
    const same = wanted ? blocks[block].levels.findIndex((l) => l.loop === wanted.loop) : -1;
    if (same >= 0) level = same;
  }

  function showTiles() {
    const blocks = steps[current].tiles.blocks;
    const section = at("tiles").closest("section");
    section.hidden = !blocks.length;
    if (!blocks.length) return;
    const one = blocks[block];
    chips("blocks", "block", blocks.map((b) => b.name), block, (n) => {
      block = n;
      level = blocks[n].level;
    });
    chips("levels", "in one iteration of", one.levels.map((l) => l.loop || "the whole run"), level, (n) => {
      level = n;
    });
    const shown = one.levels[level];
    const more = steps[current].tiles.more;
    const rest = more ? `${more} more blocks are not drawn.` : "";
    at("tile-note").textContent = [shown.at && `At ${shown.at}.`, shown.note, rest].filter(Boolean).join(" ");
    at("tiles").innerHTML = shown.pictures.map((p) => `<figure>${data.pictures[p]}</figure>`).join("");
    showSlider(shown);
    at("nest").querySelectorAll(".chosen").forEach((e) => e.classList.remove("chosen"));
    const frame = at("nest").querySelector(shown.id < 0 ? `[data-block="${one.id}"]` : `[data-loop="${shown.id}"]`);
    if (frame) frame.classList.add("chosen");
  }

  function showSlider(shown) {
    const slider = at("iteration");
    at("slider").hidden = shown.first === undefined || shown.first === shown.last;
    if (at("slider").hidden) return;
    at("iteration-name").textContent = shown.loop;
    slider.setAttribute("aria-label", `Iteration of ${shown.loop}`);
    slider.min = shown.first;
    slider.max = shown.last;
    slider.value = Math.min(shown.last, Math.max(shown.first, iterations.get(shown.loop) ?? shown.first));
    moveTiles();
  }

  // put every tile where it is in the iteration of the slider
  function moveTiles() {
    const value = Number(at("iteration").value);
    at("iteration-value").textContent = `${value} of ${at("iteration").min}..${Number(at("iteration").max) + 1}`;
    const among = (texts) => Math.max(...texts.filter((n) => n <= value), Math.min(...texts));
    for (const group of at("tiles").querySelectorAll("[data-last]")) {
      const [first, last] = [Number(group.dataset.first), Number(group.dataset.last)];
      const here = value >= first && value <= last;
      const part = last > first ? (value - first) / (last - first) : 0;
      if (group.dataset.words !== undefined) caption(group, here, value - first, among);
      else if (group.dataset.x !== undefined) {
        group.setAttribute("display", here ? "inline" : "none");
        group.setAttribute("transform", `translate(${part * group.dataset.x} ${part * group.dataset.y})`);
      } else {
        const known = among([...group.children].map((e) => Number(e.dataset.at)));
        for (const e of group.children)
          e.setAttribute("display", here && Number(e.dataset.at) === known ? "inline" : "none");
      }
    }
  }

  function caption(group, here, moved, among) {
    const text = group.querySelector("text");
    if (!here) text.textContent = `${group.dataset.words}: nothing`;
    else if (group.dataset.texts) {
      const texts = JSON.parse(group.dataset.texts);
      text.textContent = texts[among(Object.keys(texts).map(Number))];
    } else {
      const step = JSON.parse(group.dataset.step);
      const parts = JSON.parse(group.dataset.hull).map(([low, high], n) => {
        const by = moved * step[n];
        return low === high ? String(low + by) : `${low + by}:${high + by + 1}`;
      });
      text.textContent = `${group.dataset.words}[${parts.join(", ") || "()"}]`;
    }
  }

  function chips(id, word, names, chosen, choose) {
    const box = at(id);
    const had = box.contains(document.activeElement);
    box.replaceChildren(make("span", word, "word-before"));
    names.forEach((name, n) => {
      const button = make("button", name);
      button.type = "button";
      button.setAttribute("aria-pressed", String(n === chosen));
      button.addEventListener("click", () => {
        choose(n);
        const one = steps[current].tiles.blocks[block];
        wanted = { block: one.name, loop: one.levels[level].loop };
        showTiles();
      });
      box.append(button);
      if (had && n === chosen) button.focus();
    });
  }

  function chooseInNest(event) {
    const frame = event.target.closest(".tir-frame");
    if (!frame) return;
    const blocks = steps[current].tiles.blocks;
    const loop = Number(frame.dataset.loop ?? -1);
    const inside = (b) => frame.dataset.block ? b.id === Number(frame.dataset.block) : b.levels.some((l) => l.id === loop);
    const found = frame.dataset.loop && blocks[block] && inside(blocks[block]) ? block : blocks.findIndex(inside);
    if (found < 0) return;
    block = found;
    level = frame.dataset.loop ? blocks[found].levels.findIndex((l) => l.id === loop) : blocks[found].levels.length - 1;
    wanted = { block: blocks[found].name, loop: blocks[found].levels[level].loop };
    showTiles();
  }

  // --- curves over the steps ----------------------------------------------------------------------------------------

  function buildCharts() {
    for (const chart of data.charts) {
      const section = make("section", undefined, "chart");
      section.append(make("h3", chart.title));
      const [narrow, wide] = chart.pictures.map((p) => data.pictures[p]);
      for (const [name, picture] of [["narrow", narrow], ["wide", wide]]) {
        const drawing = make("div", undefined, `drawn ${name}`);
        drawing.innerHTML = picture;
        section.append(drawing);
      }
      if (chart.note) section.append(make("p", chart.note, "note"));
      at("charts").append(section);
    }
    at("charts").addEventListener("click", (event) => {
      const mark = event.target.closest("[data-point]");
      if (mark) go(Number(mark.dataset.point));
    });
  }

  function markCharts() {
    at("charts").querySelectorAll("[data-point]").forEach((mark) =>
      mark.classList.toggle("current", Number(mark.dataset.point) === current));
  }

  // --- counts -----------------------------------------------------------------------------------------------------

  function showCounts(step) {
    const before = current ? steps[current - 1].counts : [];
    const rows = step.counts.map((row) => {
      const old = before.find((r) => r.buffer === row.buffer && r.func === row.func);
      const line = make("tr");
      const name = make("th", row.buffer);
      name.scope = "row";
      if (row.scope !== "global") name.append(make("small", row.scope));
      line.append(name, cell(row.loads, old && old.loads), cell(row.stores, old && old.stores));
      return line;
    });
    at("counts").replaceChildren(...rows);
    const parts = [];
    if (step.counts.some((r) => r.calls))
      parts.push("Operands of kernel calls count each element once per call.");
    if (step.counts.some((r) => /[a-z]/.test(r.loads + r.stores)))
      parts.push("Sizes without a value are symbolic; pass values as sizes= to history.html.");
    at("count-note").textContent = parts.join(" ");
  }

  function cell(text, old) {
    const made = make("td", text);
    if (old !== undefined && old !== text) made.append(make("small", `was ${old}`));
    return made;
  }

  // --- keys ----------------------------------------------------------------------------------------------------------

  function onKey(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.target.matches("select, input[type=text], input[type=range], textarea")) return;
    const region = event.target.closest(".code, .drawing, .scroll");
    if (region && region.scrollWidth > region.clientWidth && event.key.startsWith("Arrow")) return;
    const to = { ArrowLeft: current - 1, ArrowRight: current + 1, Home: 0, End: steps.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    go(to);
  }

  buildSteps();
  buildCharts();
  at("previous").addEventListener("click", () => go(current - 1));
  at("next").addEventListener("click", () => go(current + 1));
  at("choose").addEventListener("change", (event) => go(Number(event.target.value)));
  at("removed").addEventListener("change", (event) =>
    at("program").parentElement.classList.toggle("kept", !event.target.checked));
  at("nest").addEventListener("click", chooseInNest);
  at("iteration").addEventListener("input", () => {
    iterations.set(steps[current].tiles.blocks[block].levels[level].loop, Number(at("iteration").value));
    moveTiles();
  });
  document.addEventListener("keydown", onKey);
  window.addEventListener("hashchange", () => {
    if (location.hash !== "#call") go(placeOf(location.hash.slice(1))); // #call: the link to the step
  });
  go(placeOf(location.hash.slice(1)));
})();
