/** A place in a file, counted from 1. */
export interface Position {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** One thing that is wrong with the configuration. */
export interface Problem {
  readonly severity: 'error' | 'warning';
  /** Position in a file; absent if no file is the cause. */
  readonly position?: Position | undefined;
  /** The keys that lead there; empty for the file as a whole. */
  readonly path: readonly string[];
  /** The problem, with the value if it may be shown, and the remedy. */
  readonly message: string;
}

/** The configuration cannot be used: everything that is wrong with it, at once. Stops the start. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[], options: { readonly cause?: unknown } = {}) {
    super(problems.map(formatProblem).join('\n'), options);
    this.problems = problems;
  }
}

/** One line: `jackdaw.yaml:12:5: error: receivers.trace_batch.endpont: unknown key; did you mean "endpoint"?` */
export function formatProblem(problem: Problem): string {
  const { position } = problem;
  const place = position ? `${formatPosition(position)}: ` : '';
  const path = formatPath(problem.path);
  return `${place}${problem.severity}: ${path === '' ? '' : `${path}: `}${problem.message}`;
}

/** `jackdaw.yaml:12:5` */
export function formatPosition({ file, line, column }: Position): string {
  return `${file}:${line}:${column}`;
}

/** `service.pipelines.traces.exporters[0]` */
export function formatPath(path: readonly string[]): string {
  return path
    .map((key, index) => (/^\d+$/.test(key) && index > 0 ? `[${key}]` : index === 0 ? key : `.${key}`))
    .join('');
}
