"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const steps = data.steps;
  const at = (id) => document.getElementById(id);
  const refused = (step) => step.kind === "refused" || step.kind === "not provable";
  let current = 0;
  let block = 0;
  let level = 0;
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

  function titled(step, number) {
    const mark = refused(step) ? ` (${step.kind})` : "";
    return `${number}. ${step.kind === "start" ? step.call : `${step.name} ${subject(step)}`.trim()}${mark}`;
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
      button.append(make("span", String(number)), name);
      if (refused(step)) button.setAttribute("aria-label", titled(step, number));
      button.addEventListener("click", () => go(number));
      const item = make("li");
      item.append(button);
      at("steps").append(item);
      const option = make("option", titled(step, number));
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
    at("status").textContent = `Step ${current} of ${steps.length - 1}: ${step.call}`;
    try {
      history.replaceState(null, "", `#${current}`);
    } catch { /* the page has no URL */ }
  }

  function keepInView(button) {
    const list = button.closest("nav");
    const top = button.offsetTop - list.offsetTop;
    if (top < list.scrollTop || top + button.offsetHeight > list.scrollTop + list.clientHeight)
      list.scrollTop = top - list.clientHeight / 2;
  }

  // --- a step -----------------------------------------------------------------------------------------------------

  function show(step) {
    const last = steps.length - 1;
    const took = step.kind === "step" ? ` · history entry ${step.number} · ${step.ms} ms` : "";
    at("position").textContent = current ? `Step ${current} of ${last}${took}` : `${last} step${last === 1 ? "" : "s"}`;
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
    showProof(step);
    showProgram(step);
    at("nest").innerHTML = data.pictures[step.nest];
    chooseTiles(step);
    showTiles();
    showCounts(step);
  }

  function showProof(step) {
    const box = at("proof");
    box.replaceChildren();
    box.className = `proof ${refused(step) ? "refused" : step.kind}`;
    if (step.kind === "start") return;
    const word = { step: "Legal", choice: "Sampled", refused: "Refused", "not provable": "Not provable" }[step.kind];
    const first = make("p");
    first.append(make("strong", `${word}. `));
    addText(first, step.proof);
    box.append(first);
    if (step.example && !step.proof.includes(step.example)) {
      const shown = make("p", "Counterexample: ");
      shown.append(make("code", step.example));
      box.append(shown);
    }
    if (step.fix) box.append(addText(make("p"), `Suggested fix: ${step.fix}`));
    if (step.rewrite) {
      const more = make("details");
      more.append(make("summary", "Rewrite"), make("pre", step.rewrite));
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
    at("nest").querySelectorAll(".chosen").forEach((e) => e.classList.remove("chosen"));
    const frame = at("nest").querySelector(shown.id < 0 ? `[data-block="${one.id}"]` : `[data-loop="${shown.id}"]`);
    if (frame) frame.classList.add("chosen");
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

  // --- light and dark, keys ---------------------------------------------------------------------------------------

  function setTheme(theme, keep) {
    document.documentElement.dataset.theme = theme;
    at("theme").setAttribute("aria-pressed", String(theme === "dark"));
    at("theme").textContent = theme === "dark" ? "Light" : "Dark";
    at("theme").setAttribute("aria-label", "Dark colors");
    if (keep) try { localStorage.setItem("tir-theme", theme); } catch { /* no local storage */ }
  }

  function startTheme() {
    const system = matchMedia("(prefers-color-scheme: dark)");
    let kept = null;
    try { kept = localStorage.getItem("tir-theme"); } catch { /* no local storage */ }
    setTheme(kept || (system.matches ? "dark" : "light"), false);
    system.addEventListener("change", (event) => { if (!kept) setTheme(event.matches ? "dark" : "light", false); });
    at("theme").addEventListener("click", () => {
      kept = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
      setTheme(kept, true);
    });
  }

  function onKey(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.target.matches("select, input[type=text], textarea")) return;
    const region = event.target.closest(".code, .drawing, .scroll");
    if (region && region.scrollWidth > region.clientWidth && event.key.startsWith("Arrow")) return;
    const to = { ArrowLeft: current - 1, ArrowRight: current + 1, Home: 0, End: steps.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    go(to);
  }

  startTheme();
  buildSteps();
  at("previous").addEventListener("click", () => go(current - 1));
  at("next").addEventListener("click", () => go(current + 1));
  at("choose").addEventListener("change", (event) => go(Number(event.target.value)));
  at("removed").addEventListener("change", (event) =>
    at("program").parentElement.classList.toggle("kept", !event.target.checked));
  at("nest").addEventListener("click", chooseInNest);
  document.addEventListener("keydown", onKey);
  window.addEventListener("hashchange", () => go(Number(location.hash.slice(1)) || 0));
  go(Number(location.hash.slice(1)) || 0);
})();
