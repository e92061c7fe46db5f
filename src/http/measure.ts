/** What the data itself says about what comes out of it, in bytes. */
export interface Measure {
  readonly least: number;
  readonly most: number;
}
