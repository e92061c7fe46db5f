import type { CSSProperties } from 'react';

/** Row height of a span grid. */
export const ROW_PX = 28;

/** Passes the maximum height of a grid to the stylesheet. @param rows below the header */
export function roomFor(rows: number): CSSProperties {
  const needed = { '--needed': `${String((rows + 1) * ROW_PX + 2)}px` };
  return needed as CSSProperties;
}
