/** Class names that are there, side by side. */
export function cx(...names: readonly (string | false | undefined)[]): string {
  return names.filter((name) => name !== undefined && name !== false).join(' ');
}
