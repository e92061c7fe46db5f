import { Link } from 'wouter';
import { member, textOf, type Json } from '../../json/parse.js';
import { payloadText } from '../../messages/diff-text.js';
import { TextDiff } from '../../messages/TextDiff.js';
import parts from '../../parts/parts.module.css';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Failure } from '../../parts/states.js';
import { TypeIcon, TYPE_LABELS } from '../../parts/TypeIcon.js';
import type { DiffRow } from '../../trace/diff.js';
import { usePayload } from './load.js';
import styles from './compare-runs.module.css';

/** Input and output of a span in both runs as a diff. @param a run id, as is `b` */
export function PayloadDiff({
  a,
  b,
  row,
}: {
  readonly a: string;
  readonly b: string;
  readonly row: DiffRow;
}) {
  const [before, after] = [usePayload(a, row.a?.span.id), usePayload(b, row.b?.span.id)];
  const span = (row.b ?? row.a)?.span;
  if (!span) return null;
  const error = before.error ?? after.error;
  const isThere = (!row.a || before.data) && (!row.b || after.data);
  return (
    <section className={styles['panel']} aria-label="Difference">
      <div className={styles['panelHead']}>
        <TypeIcon type={span.type} />
        <h2>{span.name === '' ? TYPE_LABELS[span.type] : span.name}</h2>
        {row.a && <Link href={`/traces/${a}?span=${row.a.span.id}`}>in A</Link>}
        {row.b && <Link href={`/traces/${b}?span=${row.b.span.id}`}>in B</Link>}
      </div>
      {error ? (
        <Failure error={error} retry={() => void Promise.all([before.refetch(), after.refetch()])} />
      ) : isThere ? (
        <Texts before={before.data} after={after.data} row={row} />
      ) : (
        <TableSkeleton rows={6} />
      )}
    </section>
  );
}

function Texts({
  before,
  after,
  row,
}: {
  readonly before: Json | undefined;
  readonly after: Json | undefined;
  readonly row: DiffRow;
}) {
  const [oneA, oneB] = [row.a === undefined ? undefined : before, row.b === undefined ? undefined : after];
  const isCut = [oneA, oneB].some((detail) => {
    const cut = member(detail, 'is_truncated');
    return cut?.kind === 'literal' && cut.value === true;
  });
  return (
    <>
      {(!oneA || !oneB) && <p className={parts['faint']}>Only {oneA ? 'A' : 'B'} has this step.</p>}
      {isCut && (
        <p className={parts['faint']}>
          Only the first 64 KB of each payload is compared; open the run for the full content.
        </p>
      )}
      {(['input', 'output'] as const).map((side) => {
        const [textA, textB] = [oneA, oneB].map((detail) => (detail ? payloadText(detail, side) : ''));
        return (
          <section key={side} className={styles['side']}>
            <h3>{side === 'input' ? 'Input' : 'Output'}</h3>
            <Compared a={textA ?? ''} b={textB ?? ''} label={side === 'input' ? 'Input' : 'Output'} />
          </section>
        );
      })}
      <Errors a={textOf(oneA, 'error_message')} b={textOf(oneB, 'error_message')} />
    </>
  );
}

function Compared({ a, b, label }: { readonly a: string; readonly b: string; readonly label: string }) {
  if (a === '' && b === '') return <p className={parts['faint']}>None in either run.</p>;
  return (
    <>
      {a === b && <p className={parts['faint']}>Identical in both runs.</p>}
      <TextDiff before={a} after={b} label={label} />
    </>
  );
}

function Errors({ a, b }: { readonly a: string | undefined; readonly b: string | undefined }) {
  if (a === undefined && b === undefined) return null;
  return (
    <section className={styles['side']}>
      <h3>Error</h3>
      <Compared a={a ?? ''} b={b ?? ''} label="Error" />
    </section>
  );
}
