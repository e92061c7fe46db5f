/** A problem with a test itself. */
export class TestProblem extends Error {
  override readonly name = 'TestProblem';
  /** Keys in the test that lead to the problem. */
  readonly path: readonly string[];

  constructor(path: readonly string[], message: string) {
    super(message);
    this.path = path;
  }
}
