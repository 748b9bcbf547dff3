// What boards are drawn with, `art`, stands before this.
(() => {
  "use strict";

  function roundRect(g, x, y, w, h, r) {
    g.beginPath();
    g.roundRect(x, y, w, h, r);
  }

  function disc(g, x, y, r, fill) {
    g.beginPath();
    g.arc(x, y, r, 0, 2 * Math.PI);
    g.fillStyle = fill;
    g.fill();
  }

  function ring(g, x, y, r, stroke, width) {
    g.beginPath();
    g.arc(x, y, r, 0, 2 * Math.PI);
    g.strokeStyle = stroke;
    g.lineWidth = width;
    g.stroke();
  }

  function lines(g, color, width, ends) {
    g.strokeStyle = color;
    g.lineWidth = width;
    g.lineCap = "round";
    g.beginPath();
    for (const [x1, y1, x2, y2] of ends) {
      g.moveTo(x1, y1);
      g.lineTo(x2, y2);
    }
    g.stroke();
  }

  function chessPiece(g, piece, x, y, side) {
    const shape = art.chess[piece.toLowerCase()];
    if (!shape) return letter(g, piece, x, y, side);
    const white = piece !== piece.toLowerCase();
    const fill = white ? art.IVORY : art.EBONY;
    const edge = white ? art.IVORY_EDGE : art.EBONY_EDGE;
    const detail = white ? art.IVORY_EDGE : art.EBONY_DETAIL;
    g.save();
    g.translate(x, y);
    g.scale(side / 100, side / 100);
    g.lineCap = g.lineJoin = "round";
    const bodies = [new Path2D(shape.body), new Path2D(art.chess.foot)];
    g.strokeStyle = edge;
    g.lineWidth = 8.4;
    for (const body of bodies) g.stroke(body);
    for (const [cx, cy, r] of shape.pearls) ring(g, cx, cy, r, edge, 8.4);
    g.fillStyle = fill;
    for (const body of bodies) g.fill(body);
    for (const [cx, cy, r] of shape.pearls) disc(g, cx, cy, r, fill);
    g.strokeStyle = detail;
    g.lineWidth = 3.2;
    g.stroke(new Path2D(shape.lines));
    g.stroke(new Path2D(art.chess.rule));
    for (const [cx, cy, r] of shape.eyes) disc(g, cx, cy, r, detail);
    g.restore();
  }

  function letter(g, piece, x, y, side) {
    disc(g, x + side / 2, y + side / 2, side * 0.38, art.IVORY);
    g.fillStyle = art.IVORY_EDGE;
    g.font = `600 ${side * 0.4}px sans-serif`;
    g.textAlign = "center";
    g.textBaseline = "middle";
    g.fillText(piece, x + side / 2, y + side / 2);
  }

  const pieces = {
    chess: chessPiece,
    connect_four(g, piece, x, y, side) {
      const cx = x + side / 2, cy = y + side / 2, red = piece === "X";
      disc(g, cx, cy, side * 0.41, red ? art.DISC_RED : art.DISC_YELLOW);
      if (red) ring(g, cx, cy, side * 0.27, art.DISC_RED_EDGE, side * 0.05);
      else disc(g, cx, cy, side * 0.13, art.DISC_YELLOW_EDGE);
    },
    tic_tac_toe(g, piece, x, y, side) {
      const a = side * 0.24, b = side - a;
      if (piece === "X")
        lines(g, art.CROSS, side * 0.11, [[x + a, y + a, x + b, y + b], [x + b, y + a, x + a, y + b]]);
      else ring(g, x + side / 2, y + side / 2, side * 0.26, art.NOUGHT, side * 0.11);
    },
    go(g, piece, x, y, side) {
      const cx = x + side / 2, cy = y + side / 2, r = side * 0.46;
      const [bright, deep] = piece === "X" ? art.STONE_BLACK : art.STONE_WHITE;
      const light = g.createRadialGradient(cx - r * 0.35, cy - r * 0.4, 0, cx - r * 0.35, cy - r * 0.4, r * 1.3);
      light.addColorStop(0, bright);
      light.addColorStop(1, deep);
      disc(g, cx, cy, r, light);
    },
    checkers(g, piece, x, y, side) {
      const cx = x + side / 2, cy = y + side / 2, red = piece[0] === "X";
      const edge = red ? art.MAN_RED_EDGE : art.IVORY_EDGE;
      disc(g, cx, cy, side * 0.36, red ? art.MAN_RED : art.IVORY);
      ring(g, cx, cy, side * 0.36, edge, side * 0.04);
      if (piece.length > 1) disc(g, cx, cy, side * 0.16, red ? art.IVORY : edge);
      else ring(g, cx, cy, side * 0.25, edge, side * 0.025);
    },
  };

  function ground(g, kind, rows, columns, side, edge) {
    const w = columns * side, h = rows * side;
    if (kind === "go") {
      g.fillStyle = art.WOOD;
      roundRect(g, edge, edge, w, h, 4);
      g.fill();
      const ends = [], half = side / 2;
      for (let r = 0; r < rows; r++) ends.push([edge + half, edge + half + r * side, edge + w - half, edge + half + r * side]);
      for (let c = 0; c < columns; c++) ends.push([edge + half + c * side, edge + half, edge + half + c * side, edge + h - half]);
      lines(g, art.WOOD_LINE, Math.max(1, side / 34), ends);
    } else if (kind === "connect_four") {
      g.fillStyle = art.RACK;
      roundRect(g, edge - side * 0.09, edge - side * 0.09, w + side * 0.18, h + side * 0.18, side * 0.22);
      g.fill();
      for (let i = 0; i < rows * columns; i++)
        disc(g, edge + (i % columns + 0.5) * side, edge + (Math.floor(i / columns) + 0.5) * side, side * 0.4, art.HOLE);
    } else if (kind === "tic_tac_toe") {
      const ends = [];
      for (let c = 1; c < columns; c++) ends.push([edge + c * side, edge, edge + c * side, edge + h]);
      for (let r = 1; r < rows; r++) ends.push([edge, edge + r * side, edge + w, edge + r * side]);
      lines(g, art.SLATE_LINE, Math.max(2, side / 26), ends);
    } else {
      for (let i = 0; i < rows * columns; i++) {
        const r = Math.floor(i / columns), c = i % columns;
        g.fillStyle = (r + c) % 2 ? art.SQUARE_DARK : art.SQUARE_LIGHT;
        g.fillRect(edge + c * side, edge + r * side, side, side);
      }
    }
  }

  function drawBoard(canvas, [kind, rows, columns], cells, last) {
    const g = canvas.getContext("2d"), edge = 12;
    const side = Math.floor((canvas.width - 2 * edge) / columns);
    g.clearRect(0, 0, canvas.width, canvas.height);
    ground(g, kind, rows, columns, side, edge);
    const place = (i) => [edge + (i % columns) * side, edge + Math.floor(i / columns) * side];
    const onPiece = kind === "go" || kind === "connect_four";
    if (!onPiece)
      for (const i of last) {
        g.fillStyle = art.LAST_MOVE + "80";
        g.fillRect(...place(i), side, side);
      }
    cells.split(",").forEach((piece, i) => {
      if (piece) (pieces[kind] || letter)(g, piece, ...place(i), side);
    });
    if (onPiece && last.length) {
      const [x, y] = place(last[last.length - 1]);
      ring(g, x + side / 2, y + side / 2, side * (kind === "go" ? 0.22 : 0.4), art.IVORY, Math.max(2, side * 0.05));
    }
  }

  class Player {
    constructor(root) {
      this.root = root;
      this.film = JSON.parse(root.querySelector("script[type='application/json']").textContent);
      this.canvas = root.querySelector("canvas");
      this.text = root.querySelector("pre.screen");
      this.bar = root.querySelector("input[type=range]");
      this.playButton = root.querySelector(".play");
      this.speed = root.querySelector("select");
      this.place = root.querySelector("output");
      this.rows = [...root.querySelectorAll("table.acts tbody tr")];
      this.turns = [...root.querySelectorAll(".said [data-step]")];
      this.scores = root.querySelector(".scores-now");
      this.at = 0;
      this.drawn = -1;
      this.timer = 0;
      this.images = new Map();
      this.steps = this.film.frames[this.film.frames.length - 1][0];
      this.playButton.addEventListener("click", () => this.toggle());
      root.querySelector(".first").addEventListener("click", () => this.jump(0));
      root.querySelector(".back").addEventListener("click", () => this.jump(this.at - 1));
      root.querySelector(".on").addEventListener("click", () => this.jump(this.at + 1));
      root.querySelector(".last").addEventListener("click", () => this.jump(this.end));
      this.bar.addEventListener("input", () => this.jump(Number(this.bar.value)));
      this.speed.addEventListener("change", () => { if (this.timer) { this.pause(); this.play(); } });
      root.addEventListener("keydown", (event) => this.key(event));
      for (const turn of this.turns)
        turn.addEventListener("click", () => this.jump(this.after(Number(turn.dataset.step))));
      new IntersectionObserver((seen, observer) => {
        if (seen.some((each) => each.isIntersecting)) { observer.disconnect(); this.show(); }
      }).observe(root);
    }

    get end() { return this.film.frames.length - 1; }

    after(step) {
      const found = this.film.frames.findIndex((frame) => frame[0] > step);
      return found < 0 ? this.end : found;
    }

    key(event) {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select")) return;
      const typed = event.target.matches("input");
      const does = {
        " ": () => event.target.matches("button") ? false : this.toggle(),
        k: () => this.toggle(),
        ArrowLeft: () => typed ? false : this.jump(this.at - 1),
        ArrowRight: () => typed ? false : this.jump(this.at + 1),
        Home: () => typed ? false : this.jump(0),
        End: () => typed ? false : this.jump(this.end),
        "+": () => this.faster(1),
        "-": () => this.faster(-1),
      }[event.key];
      if (does && does() !== false) event.preventDefault();
    }

    faster(by) {
      const next = this.speed.selectedIndex + by;
      if (next < 0 || next >= this.speed.options.length) return;
      this.speed.selectedIndex = next;
      this.speed.dispatchEvent(new Event("change"));
    }

    toggle() { if (this.timer) this.pause(); else this.play(); }

    play() {
      this.film.pictures.forEach((_, number) => this.image(number));
      if (this.at >= this.end) { this.at = 0; this.show(); }
      this.timer = setInterval(() => {
        if (this.at >= this.end) this.pause();
        else { this.at += 1; this.show(); }
      }, 1000 / Number(this.speed.value));
      this.told(true);
    }

    pause() {
      clearInterval(this.timer);
      this.timer = 0;
      this.told(false);
    }

    told(playing) {
      this.playButton.textContent = playing ? "Pause" : "Play";
      this.root.classList.toggle("playing", playing);
    }

    jump(to) {
      this.pause();
      this.at = Math.max(0, Math.min(this.end, to));
      this.show();
    }

    image(number) {
      if (!this.images.has(number)) {
        const image = new Image();
        image.src = "data:image/webp;base64," + this.film.pictures[number];
        this.images.set(number, image.decode().then(() => image));
      }
      return this.images.get(number);
    }

    show() {
      const frame = this.film.frames[this.at];
      this.bar.value = this.at;
      const place = `step ${frame[0]} of ${this.steps}`;
      this.place.textContent = place;
      this.bar.setAttribute("aria-valuetext", place);
      this.acts();
      this.follow(frame[0]);
      if (this.scores && frame[6].length)
        this.scores.textContent = this.film.teams.map((team, i) => `${team} ${frame[6][i]}`).join(" : ");
      if (this.film.board[0] && frame[3] >= 0)
        drawBoard(this.canvas, this.film.board, this.film.words[frame[3]], frame[4]);
      else if (this.text) this.text.textContent = frame[5] >= 0 ? this.film.words[frame[5]] : "";
      else if (this.canvas) return this.paint(this.at);
      this.root.dataset.shown = this.at;
    }

    async paint(at) {
      const frames = this.film.frames, g = this.canvas.getContext("2d");
      let from = at;
      if (this.drawn >= 0 && this.drawn < at) from = this.drawn + 1;
      else while (from > 0 && !frames[from][1].some((patch) => patch[3])) from -= 1;
      const patches = frames.slice(from, at + 1).flatMap((frame) => frame[1]);
      const images = await Promise.all(patches.map((patch) => this.image(patch[0])));
      // Whoever was faster has drawn what is wanted now, or draws it.
      if (this.at !== at) return;
      patches.forEach(([, x, y], i) => g.drawImage(images[i], x, y));
      this.drawn = at;
      this.root.dataset.shown = at;
    }

    acts() {
      const { frames, words, agents } = this.film;
      agents.forEach((_, agent) => {
        let i = this.at, act;
        while (i >= 0 && !(act = frames[i][2].find((each) => each[0] === agent))) i -= 1;
        const cells = this.rows[agent].cells;
        cells[1].textContent = act ? words[act[1]] : "";
        cells[1].title = act && act[4] >= 0 ? words[act[4]].replace("_", " ") : "";
        cells[1].classList.toggle("bad", Boolean(act && act[4] >= 0 && /noop|random_legal/.test(words[act[4]])));
        cells[2].textContent = act ? String(+act[2].toFixed(3)) : "";
        cells[3].textContent = act ? String(+act[3].toFixed(3)) : "";
        this.rows[agent].classList.toggle("now", Boolean(act) && i === this.at);
      });
    }

    follow(step) {
      let now = null;
      for (const turn of this.turns) {
        turn.classList.remove("now");
        if (Number(turn.dataset.step) < step || (step === 0 && !now)) now = turn;
      }
      if (!now) return;
      now.classList.add("now");
      const box = now.closest(".said");
      box.scrollTop = now.offsetTop - box.offsetTop - 8;
    }
  }

  for (const root of document.querySelectorAll(".film[data-film]")) new Player(root);
})();
