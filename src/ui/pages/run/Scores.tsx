import { Link } from 'wouter';
import type { Schemas } from '../../api/client.js';
import parts from '../../parts/parts.module.css';

type Score = Schemas['TraceOutline']['scores'][number];

/** Scores that a header shows; the others are at their spans. */
const MOST = 12;

/** The scores of a run: their spans are links. */
export function RunScores({
  traceId,
  scores,
}: {
  readonly traceId: string;
  readonly scores: readonly Score[];
}) {
  const newest = scores.slice(-MOST);
  return (
    <>
      {newest.map((score) => {
        const title = score.comment ?? undefined;
        return score.span_id === null ? (
          <span key={score.id} className={parts['chip']} title={title}>
            {inWords(score)}
          </span>
        ) : (
          <Link
            key={score.id}
            className={parts['chip']}
            title={title}
            href={`/traces/${traceId}?span=${score.span_id}`}
          >
            {inWords(score)}
          </Link>
        );
      })}
      {scores.length > newest.length && (
        <span className={parts['faint']}> and {scores.length - newest.length} earlier</span>
      )}
    </>
  );
}

/** The scores of a span with their comments, for a list of facts. */
export function SpanScores({ scores }: { readonly scores: readonly Score[] }) {
  if (scores.length === 0) return null;
  return (
    <>
      <dt>Scores</dt>
      <dd>
        {scores.map((score) => (
          <div key={score.id}>
            {inWords(score)} {score.comment !== null && <small>{score.comment}</small>}
          </div>
        ))}
      </dd>
    </>
  );
}

function inWords({ name, value, label, error_type: error }: Score): string {
  const result = [
    value === null ? undefined : String(Number(value.toPrecision(6))),
    label ?? undefined,
    error === null ? undefined : `failed: ${error}`,
  ].filter((text) => text !== undefined);
  return result.length === 0 ? name : `${name}: ${result.join(', ')}`;
}
