/**
 * The exact source text of an object member.
 *
 * @param text a JSON object as received
 * @returns undefined if the member does not exist
 */
export function memberText(text: string, name: string): string | undefined {
  const key = JSON.stringify(name);
  const marks = /"(?:[^"\\]|\\.)*"|[{}[\],]/g;
  let depth = 0;
  let start: number | undefined;
  for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
    const [found] = mark;
    if (found === '{' || found === '[') depth += 1;
    else if (found === '}' || found === ']') depth -= 1;
    // The end of the member, or of the object.
    if (start !== undefined && ((depth === 1 && found === ',') || depth === 0))
      return text.slice(start, mark.index).trim();
    if (depth !== 1 || start !== undefined || found !== key) continue;
    const [colon] = /^\s*:/.exec(text.slice(marks.lastIndex, marks.lastIndex + 100)) ?? [];
    if (colon !== undefined) start = marks.lastIndex + colon.length;
  }
  return undefined;
}
