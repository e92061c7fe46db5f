import { useState, type ReactNode } from 'react';
import { formatBytes } from '../format/number.js';
import parts from '../parts/parts.module.css';

/** Limit in characters; longer text makes browsers slow. */
const MAX_SHOWN = 65_536;

/** A text whose rest is shown on request if it is long. */
export function LongText({
  text,
  limit = MAX_SHOWN,
  children,
}: {
  readonly text: string;
  /** Characters shown at first. */
  readonly limit?: number | undefined;
  readonly children: (shown: string) => ReactNode;
}) {
  const [isWhole, setWhole] = useState(false);
  if (text.length <= limit || isWhole) return children(text);
  return (
    <>
      {children(text.slice(0, limit))}
      <button
        type="button"
        className={parts['button']}
        onClick={() => {
          setWhole(true);
        }}
      >
        Show all {formatBytes(text.length)} (first {formatBytes(limit)} shown)
      </button>
    </>
  );
}
