/** Characters; shorter texts occur by chance. */
const LEAST_SECRET = 8;

/** Takes values out of a text that another side may repeat. Short ones are no secrets, and would be found everywhere. */
export function hiding(values: readonly string[]): (text: string) => string {
  const secrets = values
    .flatMap((value) => [value, ...value.split(/\s+/)])
    .filter(({ length }) => length >= LEAST_SECRET)
    .sort((a, b) => b.length - a.length);
  return (text) => secrets.reduce((rest, value) => rest.replaceAll(value, '***'), text);
}
