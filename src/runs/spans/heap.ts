/** A binary heap. */
export class Heap<Thing> {
  readonly #isBefore: (a: Thing, b: Thing) => boolean;
  readonly #things: Thing[] = [];

  constructor(isBefore: (a: Thing, b: Thing) => boolean) {
    this.#isBefore = isBefore;
  }

  get first(): Thing | undefined {
    return this.#things[0];
  }

  push(thing: Thing): void {
    const things = this.#things;
    let at = things.push(thing) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const other = things[above];
      if (other === undefined || !this.#isBefore(thing, other)) break;
      things[at] = other;
      at = above;
    }
    things[at] = thing;
  }

  /** Removes the first one. */
  shift(): void {
    const things = this.#things;
    const thing = things.pop();
    if (thing === undefined || things.length === 0) return;
    let at = 0;
    for (;;) {
      let below = at * 2 + 1;
      let other = things[below];
      const right = things[below + 1];
      if (other === undefined) break;
      if (right !== undefined && this.#isBefore(right, other)) {
        below++;
        other = right;
      }
      if (!this.#isBefore(other, thing)) break;
      things[at] = other;
      at = below;
    }
    things[at] = thing;
  }
}
