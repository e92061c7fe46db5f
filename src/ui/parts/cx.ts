/** Joins class names, without empty ones. */
export function cx(...names: readonly (string | false | undefined)[]): string {
  return names.filter((name) => name !== undefined && name !== false).join(' ');
}
