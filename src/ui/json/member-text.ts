/**
 * The value of a member of an object as it stands in the text, every byte of it.
 *
 * @param text of a JSON object, as it was received
 * @returns undefined where there is no such member
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
    // The end of the member that was found, or of all.
    if (start !== undefined && ((depth === 1 && found === ',') || depth === 0))
      return text.slice(start, mark.index).trim();
    if (depth !== 1 || start !== undefined || found !== key) continue;
    const [colon] = /^\s*:/.exec(text.slice(marks.lastIndex, marks.lastIndex + 100)) ?? [];
    if (colon !== undefined) start = marks.lastIndex + colon.length;
  }
  return undefined;
}
