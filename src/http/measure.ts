/** The size of what comes out of compressed data, in bytes, as the data itself says. */
export interface Measure {
  readonly least: number;
  readonly most: number;
}
