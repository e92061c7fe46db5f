/**
 * Parses a header such as `Accept` or `Accept-Encoding` (RFC 9110 section 12.4.2): lower-case names with their weights, from 0
 * (never) to 1.
 */
export function weightsOf(header: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const item of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim());
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    const value = weight === undefined ? 1 : Number(weight);
    weights.set(name, value >= 0 && value <= 1 ? value : 0);
  }
  return weights;
}
