/** What many rows of a message share: each such part crosses once, and the rows carry its position. */
export class SharedParts<Part> {
  readonly #positions = new Map<Part, number>();

  /** In the order of their positions. */
  get parts(): readonly Part[] {
    return [...this.#positions.keys()];
  }

  /** Parts are told apart as objects, not by what is in them. */
  positionOf(part: Part): number {
    let position = this.#positions.get(part);
    if (position === undefined) {
      position = this.#positions.size;
      this.#positions.set(part, position);
    }
    return position;
  }
}
