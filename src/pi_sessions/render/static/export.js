"use strict";
/* The request of any reply, put together from the runs of replies that had each line.
   Nothing is asked for outside of the file, and all texts are put in as texts. */
(() => {
  const find = (query, within = document) => within.querySelector(query);
  const all = (query, within = document) => [...within.querySelectorAll(query)];
  const make = (name, words = {}, ...inside) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(words)) made.setAttribute(key, value);
    made.append(...inside);
    return made;
  };
  const theme = find("[data-do=theme]");
  if (theme) {
    const themes = ["auto", "light", "dark"];
    theme.hidden = false;
    theme.addEventListener("click", () => {
      const next = themes[(themes.indexOf(document.documentElement.dataset.theme) + 1) % 3];
      document.documentElement.dataset.theme = next;
      theme.textContent = "Theme: " + next;
    });
  }

  const island = find("#requests");
  const panel = find("#saw");
  if (!island || !panel) return;
  const told = JSON.parse(island.textContent);
  const far = told.far || { count: 0 };
  const rows = new Map(told.lines.map((row) => [row[0], row]));
  const replies = Object.entries(told.replies).map(([place, reply]) => [Number(place), reply]);
  const places = new Map(replies.map(([place, reply]) => [reply[0], place]));
  const reply = (place) => told.replies[place];
  const steps = replies.map(([place, each]) => [each[0], place]).sort((a, b) => a[0] - b[0]);

  /* A line's code for a reply: 0 it had it, below how it went, above why it had it not. */
  const codeAt = (row, place) => {
    if (place < row[4]) return null;
    for (let n = 5; n < row.length; n += 2) if (place < row[n]) return row[n + 1];
    return null;
  };
  const whyNot = (row, place) => {
    const code = codeAt(row, place);
    if (code !== null) return code > 0 ? told.why[code - 1] : "";
    const [line, enter, leave] = reply(place);
    if (row[0] === line) return "this reply";
    return enter <= row[1] && row[1] <= leave ? "came later" : "on another branch";
  };
  const had = (place) => {
    const found = told.lines.filter((row) => (codeAt(row, place) ?? 1) <= 0);
    const order = (row) => (row[2] === 1 ? 0 : row[2] === 2 ? 1 : 2);
    return found.sort((a, b) => order(a) - order(b) || a[1] - b[1]);
  };
  /* What stands in no line of a request: told of replies on the way to where it was found. */
  const made = (mine, place) => {
    const lines = new Set(mine.map((row) => row[0]));
    const [, low, high] = reply(place);
    if (told.made.exact) return told.made.rows.filter((each) => each[2].includes(place));
    return told.made.rows.filter((each) => each[1].every((line) => lines.has(line)) && !each[3].some((line) => lines.has(line)) && each[2].some((leaf) => low <= leaf && leaf <= high));
  };
  const changed = (row, place) => {
    const code = codeAt(row, place);
    if (code < 0) return told.why[-code - 1];
    return row[3] ? told.why[row[3] - 1] : "";
  };
  window.piSessions = { made: (line) => made(had(places.get(line)), places.get(line)).map((each) => each[0]), had: (line) => had(places.get(line)).map((row) => row[0]), state: (line, of) => {
    const row = rows.get(line), place = places.get(of);
    return (codeAt(row, place) ?? 1) <= 0 ? "" : whyNot(row, place);
  } };

  let now = null;
  const pageOf = (line) => {
    let name = "";
    for (const [first, page] of told.pages || []) if (first <= line) name = page;
    return name;
  };
  const address = (line) => (document.getElementById("L" + line) ? "" : pageOf(line)) + "#L" + line;
  const spoken = (body) => {
    const walk = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
    let text = "";
    while (text.length < 220 && walk.nextNode()) text += " " + walk.currentNode.data.slice(0, 300);
    return text.replace(/\s+/g, " ").trim().slice(0, 220);
  };
  const words = (line) => {
    const here = document.getElementById("L" + line);
    if (!here) return (told.briefs || {})[line] || ["", ""];
    const body = (now !== null && (codeAt(rows.get(line), now) ?? 0) < 0 && find(".went", here)) || find(".was > .was", here) || find(".body", here) || find(".aside", here);
    return [find(".who", here).textContent, body ? spoken(body) : ""];
  };

  const stored = new Map();
  const dots = all(".tree .t").map((each) => [each, each.className, find(".dot", each).textContent]);
  const dot = (place) => {
    for (const [each, name, sign] of dots) {
      each.removeAttribute("aria-current");
      if (place !== null && each.hash === "#L" + reply(place)[0]) {
        each.setAttribute("aria-current", "true");
        const tree = each.closest(".tree");
        tree.scrollTop = each.offsetTop - tree.clientHeight / 2;
      }
      const row = rows.get(Number(each.hash.slice(2)));
      const is = place !== null && row;
      const told = is && (codeAt(row, place) ?? 1) <= 0;
      const letter = told ? (changed(row, place) ? "c" : "s") : "n";
      each.className = is ? name.replace(/ [scn]( off)?$/, " " + letter) : name;
      find(".dot", each).textContent = is ? { s: "●", c: "◐", n: "○" }[letter] : sign;
    }
  };
  const paint = (place) => {
    dot(place);
    for (const here of all("article.row")) {
      const line = Number(here.id.slice(1));
      const row = rows.get(line);
      const tag = find(".meta > .tag", here);
      if (!tag) continue;
      if (!stored.has(line)) stored.set(line, [here.className, [...tag.childNodes]]);
      const [name, inside] = stored.get(line);
      here.removeAttribute("aria-current");
      if (place === null || !row) {
        here.className = name;
        tag.className = "tag " + name.split(" ")[2];
        tag.replaceChildren(...inside);
        continue;
      }
      const is = (codeAt(row, place) ?? 1) <= 0;
      const how = is ? changed(row, place) : whyNot(row, place);
      const letter = is ? (how ? "c" : "s") : "n";
      const parts = name.split(" ");
      parts[2] = letter;
      here.className = parts.join(" ");
      tag.className = "tag " + letter;
      const sign = { s: "● sent", c: "◐ changed", n: "○ not sent" }[letter];
      tag.textContent = how ? `${sign}: ${how}` : sign;
      if (line === reply(place)[0]) here.setAttribute("aria-current", "true");
    }
  };
  const where = find("#where");
  const whereNow = where ? [...where.childNodes] : [];
  const counts = all(".count .tag b");
  const countsNow = counts.map((each) => each.textContent);
  const count = (place) => {
    if (place === null) {
      counts.forEach((each, n) => (each.textContent = countsNow[n]));
      if (where) where.replaceChildren(...whereNow);
      return;
    }
    const mine = had(place);
    const other = mine.filter((row) => changed(row, place)).length;
    const numbers = [far.count + mine.length - other, other, told.total - mine.length - far.count];
    counts.forEach((each, n) => (each.textContent = numbers[n].toLocaleString("en")));
    if (where) where.textContent = `as the reply on line ${reply(place)[0]} had them`;
  };

  const block = (row, place, fresh) => {
    const [who, text] = words(row[0]);
    const how = changed(row, place);
    const said = make("span", { class: "said" }, text || "…");
    const from = make("span", { class: "from" }, make("a", { class: "mono", href: address(row[0]) }, "L" + row[0]));
    if (how) from.append(" ", make("span", { class: "tag c" }, how));
    else if (fresh) from.append(" ", make("span", { class: "tag s" }, "new"));
    return make("div", { class: "blk" }, make("span", { class: "role" }, who), said, from);
  };
  const standIn = (each) => {
    const from = make("span", { class: "from" }, ...links(each[1]), " ", make("span", { class: "tag c" }, "in no line"));
    return make("div", { class: "blk made" }, make("span", { class: "role" }, "made"), make("span", { class: "said" }, each[0]), from);
  };
  const FIRST = 14, LAST = 60;
  const listed = (mine, place, came) => {
    const list = make("div", { class: "blocks" });
    const extra = new Map();
    for (const each of made(mine, place)) {
      const after = each[1][each[1].length - 1];
      extra.set(after, [...(extra.get(after) || []), each]);
    }
    const shown = (row) => [block(row, place, came.has(row[0])), ...(extra.get(row[0]) || []).map(standIn)];
    const put = (part) => list.append(...part.flatMap(shown));
    if (far.count) {
      const first = mine.filter((row) => row[2]);
      put(first);
      list.append(farAway());
      mine = mine.filter((row) => !row[2]);
    }
    if (mine.length <= FIRST + LAST) {
      put(mine);
      return list;
    }
    put(mine.slice(0, FIRST));
    const middle = mine.slice(FIRST, -LAST);
    const more = make("button", { type: "button", class: "edge" }, `${middle.length.toLocaleString("en")} more lines`);
    more.addEventListener("click", () => more.replaceWith(...middle.flatMap(shown)));
    list.append(more);
    put(mine.slice(-LAST));
    return list;
  };
  const since = (mine, place) => {
    const before = reply(place)[3];
    if (before < 0 || !reply(before)) return [new Set(), ""];
    const old = had(before);
    const ours = new Set(mine.map((row) => row[0]));
    const theirs = new Set(old.map((row) => row[0]));
    const came = mine.filter((row) => !theirs.has(row[0]));
    const went = old.filter((row) => !ours.has(row[0]));
    const reasons = new Map();
    for (const row of went) reasons.set(whyNot(row, place), [...(reasons.get(whyNot(row, place)) || []), row[0]]);
    const list = make("ul", { class: "plus" });
    if (came.length) list.append(make("li", {}, make("b", {}, "in"), ...links(came.map((row) => row[0]))));
    for (const [why, lines] of reasons) list.append(make("li", {}, make("b", {}, "out"), ...links(lines), " ", make("span", { class: "soft" }, why)));
    const head = make("summary", {}, `Since the reply before, on line ${reply(before)[0]}: ${came.length} in, ${went.length} out`);
    return [new Set(came.map((row) => row[0])), make("details", { class: "since", open: "" }, head, list)];
  };
  const farAway = () => {
    const words = make("span", { class: "said" }, `${far.count.toLocaleString("en")} lines on earlier pages, the first and the last of them`);
    const from = make("span", { class: "from" }, ...links([far.first, far.last]));
    return make("div", { class: "blk" }, make("span", { class: "role" }, "before"), words, from);
  };
  const links = (lines) => lines.slice(0, 8).flatMap((line) => [" ", make("a", { class: "mono", href: address(line) }, "L" + line)]).concat(lines.length > 8 ? [` and ${lines.length - 8} more`] : []);

  const close = () => {
    now = null;
    panel.hidden = true;
    find("#view").className = "two";
    paint(null);
    count(null);
  };
  const step = (place, by) => {
    const at = steps.findIndex((each) => each[1] === place) + by;
    return at >= 0 && at < steps.length ? steps[at][0] : 0;
  };
  const show = (place) => {
    now = place;
    const line = reply(place)[0];
    const mine = had(place);
    const [fresh, difference] = since(mine, place);
    const chips = find(".chips", document.getElementById("L" + line) || document);
    const number = steps.findIndex((each) => each[1] === place) + 1;
    const nav = make("nav", { class: "steps", "aria-label": "Replies" });
    for (const [by, sign, name] of [[-1, "←", "Reply before"], [1, "→", "Reply after"]]) {
      const next = step(place, by);
      if (next) nav.append(make("a", { class: "button", href: "#at-" + next, "aria-label": name, title: name }, sign));
    }
    nav.append(make("span", { class: "soft num" }, `reply ${number} of ${steps.length} · `, make("a", { href: "#L" + line }, "line " + line)));
    const shut = make("button", { type: "button", class: "close" }, "Close");
    shut.addEventListener("click", () => (location.hash = "#L" + line) && close());
    nav.append(shut);
    panel.replaceChildren(nav, make("h1", {}, "What the model saw"));
    panel.append(make("p", { class: "soft num" }, `${(mine.length + far.count).toLocaleString("en")} lines of this session` + (chips ? ` · ${chips.textContent}` : "")));
    if (difference) panel.append(difference);
    panel.append(make("h2", {}, "The request, in order"), listed(mine, place, fresh));
    panel.append(make("p", { class: "note" }, "Wrappers around texts are not told here: “pi-sessions request” gives the exact body."));
    panel.hidden = false;
    panel.scrollTop = 0;
    find("#view").className = "three";
    paint(place);
    count(place);
  };
  const open = (target) => {
    for (let up = target; up; up = up.parentElement) if (up.localName === "details") up.open = true;
  };
  const go = () => {
    const hash = location.hash;
    const line = /^#at-(\d+)$/.exec(hash);
    if (line && places.has(Number(line[1]))) {
      const here = document.getElementById("L" + line[1]);
      show(places.get(Number(line[1])));
      if (here) {
        open(here);
        here.scrollIntoView({ block: "center" });
      }
    } else if (/^#L\d+$/.test(hash)) {
      const here = document.getElementById(hash.slice(1));
      if (here) {
        open(here);
        here.scrollIntoView({ block: "start" });
      }
    }
  };
  for (const each of all("details.had > summary")) {
    const line = Number(each.closest("article").id.slice(1));
    if (!places.has(line)) continue;
    each.addEventListener("click", (event) => {
      event.preventDefault();
      if (location.hash === "#at-" + line) go();
      location.hash = "#at-" + line;
    });
  }
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest("input, textarea")) return;
    if (event.key === "Escape" && now !== null) close();
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by && now !== null && step(now, by)) {
      event.preventDefault();
      location.hash = "#at-" + step(now, by);
    }
  });
  addEventListener("hashchange", go);
  go();
})();
