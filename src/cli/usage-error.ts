/** What was given on the command line cannot be right, in its own words: ends with exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
