const NAME = 'gen_ai.evaluation.name';
const VALUE = 'gen_ai.evaluation.score.value';
const LABEL = 'gen_ai.evaluation.score.label';
const COMMENT = 'gen_ai.evaluation.explanation';
const ERROR = 'error.type';

/** The score that a log record reports, in the words of the command line; undefined for other records. */
export function loggedScoreText({
  event_name,
  attributes,
}: {
  readonly event_name?: string | null;
  readonly attributes: Readonly<Record<string, unknown>>;
}): string | undefined {
  if (event_name !== 'gen_ai.evaluation.result') return undefined;
  const textOf = (key: string): string | undefined => {
    const value = attributes[key];
    const isText = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
    return isText && String(value).trim() !== '' ? String(value) : undefined;
  };
  const name = textOf(NAME);
  const sent = textOf(VALUE);
  const figure = typeof attributes[VALUE] === 'boolean' ? Number(attributes[VALUE]) : Number(sent);
  const value = Number.isFinite(figure) ? String(Number(figure.toPrecision(4))) : undefined;
  const label = textOf(LABEL) ?? (value === undefined ? sent : undefined);
  const [comment, error] = [textOf(COMMENT), textOf(ERROR)];
  if (name === undefined || (value ?? label ?? comment ?? error) === undefined) return undefined;
  const score = ['score', name, value, label].filter((word) => word !== undefined).join(' ');
  return [score, comment, error && `error ${error}`].filter((part) => part !== undefined).join(': ');
}
