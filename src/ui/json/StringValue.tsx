import { Braces, FileDigit } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { formatBytes } from '../format/number.js';
import { LongText } from '../messages/LongText.js';
import { ReadButton } from '../messages/Reading.js';
import parts from '../parts/parts.module.css';
import styles from './json.module.css';
import { textKind } from './text-kind.js';

/** Characters of a long text in place; the reading view has all. */
const MOST_CLAMPED = 2000;

/** A string: base64 as a chip with its size, JSON parsed on request, long text with a reading view. */
export function StringValue({
  text,
  label,
  onParse,
  children,
}: {
  readonly text: string;
  readonly label: string;
  /** @returns false if the text is not JSON */
  readonly onParse: () => boolean;
  /** Displays the text. */
  readonly children: (shown: string) => ReactNode;
}) {
  const [isShown, setShown] = useState(false);
  const [isInvalid, setInvalid] = useState(false);
  const found = textKind(text);
  if (found.kind === 'base64' && !isShown)
    return (
      <span className={styles['chip']}>
        <FileDigit size={14} aria-hidden="true" />
        {found.type === '' ? 'base64' : found.type} · {found.isCut && 'more than '}
        {formatBytes(found.bytes)}
        <button
          type="button"
          className={styles['action']}
          aria-label={`Show base64 of ${label}`}
          onClick={() => {
            setShown(true);
          }}
        >
          Show
        </button>
      </span>
    );
  return (
    <>
      {found.kind === 'long' ? (
        <span className={styles['clamped']}>{children(text.slice(0, MOST_CLAMPED))}</span>
      ) : (
        <LongText text={text}>{children}</LongText>
      )}{' '}
      {found.kind === 'json' && (
        <button
          type="button"
          className={styles['action']}
          disabled={isInvalid}
          aria-label={`Parse JSON in ${label}`}
          onClick={() => {
            setInvalid(!onParse());
          }}
        >
          <Braces size={12} aria-hidden="true" /> {isInvalid ? 'Not valid JSON' : 'Parse'}
        </button>
      )}
      {found.kind === 'long' && <ReadButton text={text} label={label} className={styles['action']} />}
      {found.kind === 'base64' && <span className={parts['unseen']}>base64</span>}
    </>
  );
}
