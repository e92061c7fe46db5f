/** Deduplicates values that rows of a message share: each is sent once, and rows hold its position. */
export class SharedParts<Part> {
  readonly #positions = new Map<Part, number>();

  /** In the order of their positions. */
  get parts(): readonly Part[] {
    return [...this.#positions.keys()];
  }

  /** Parts are compared as objects, not by their content. */
  positionOf(part: Part): number {
    let position = this.#positions.get(part);
    if (position === undefined) {
      position = this.#positions.size;
      this.#positions.set(part, position);
    }
    return position;
  }
}
