/**
 * An object with all names of a row, to be copied for each row: one that gets some dozen names one by one becomes a hash table in V8,
 * which takes twice as long to make and to read. What is made of JSON does not.
 *
 * @param names none of them twice
 */
export function rowShape(names: readonly string[]): Readonly<Record<string, null>> {
  const fields = names.map((name) => `${JSON.stringify(name)}:null`);
  return JSON.parse(`{${fields.join(',')}}`) as Readonly<Record<string, null>>;
}
