import { useMemo, useState } from 'react';
import { formatCounted } from '../format/number.js';
import { diffTexts, shortened, type DiffPiece } from './diff-text.js';
import styles from './messages.module.css';

/** A text diff: removed text struck through, added text underlined, unchanged parts shortened. */
export function TextDiff({
  before,
  after,
  label,
}: {
  readonly before: string;
  readonly after: string;
  readonly label: string;
}) {
  const pieces = useMemo(() => diffTexts(before, after), [before, after]);
  if (pieces === undefined)
    return (
      <div className={styles['apart']}>
        <p className={styles['faint']}>Too different to show side by side.</p>
        {[before, after].map((text, at) => (
          <pre
            key={at}
            className={styles['diff']}
            tabIndex={0}
            aria-label={`${label} of ${at === 0 ? 'A' : 'B'}`}
          >
            {text}
          </pre>
        ))}
      </div>
    );
  return (
    <pre className={styles['diff']} tabIndex={0} aria-label={label}>
      {pieces.map((piece, at) => (
        <Piece key={at} piece={piece} isFirst={at === 0} isLast={at === pieces.length - 1} />
      ))}
    </pre>
  );
}

function Piece({
  piece,
  isFirst,
  isLast,
}: {
  readonly piece: DiffPiece;
  readonly isFirst: boolean;
  readonly isLast: boolean;
}) {
  const [isWhole, setWhole] = useState(false);
  if (piece.kind === 'gone') return <del>{piece.text}</del>;
  if (piece.kind === 'new') return <ins>{piece.text}</ins>;
  const { head, hidden, tail } = shortened(piece, isFirst, isLast);
  if (isWhole || hidden === 0) return <span>{piece.text}</span>;
  return (
    <>
      {head}
      <button
        type="button"
        className={styles['hidden']}
        onClick={() => {
          setWhole(true);
        }}
      >
        {formatCounted(hidden, 'line')} unchanged
      </button>
      {'\n'}
      {tail}
    </>
  );
}
