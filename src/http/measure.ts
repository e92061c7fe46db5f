/** The decompressed size in bytes, as declared by the compressed data. */
export interface Measure {
  readonly least: number;
  readonly most: number;
}
