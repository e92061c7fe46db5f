import { useVirtualizer } from '@tanstack/react-virtual';
import { ChevronDown, ChevronRight, Copy } from 'lucide-react';
import { useMemo, useRef, useState } from 'react';
import { LongText } from '../messages/LongText.js';
import { cx } from '../parts/cx.js';
import styles from './json.module.css';
import { jsonLines, sizeWords, type JsonLine } from './lines.js';
import { printJson, type Json } from './parse.js';

const LINE_PX = 21;
/** Shorter documents are rendered without virtualization. */
const VIRTUAL_FROM = 200;

/** JSON with every digit and key as sent. Only visible lines are in the DOM. */
export function JsonView({ value, label }: { readonly value: Json; readonly label: string }) {
  const [turned, setTurned] = useState<ReadonlySet<string>>(new Set());
  const lines = useMemo(() => jsonLines(value, turned), [value, turned]);
  const turn = (path: string): void => {
    const next = new Set(turned);
    if (!next.delete(path)) next.add(path);
    setTurned(next);
  };
  return (
    <div className={styles['json']}>
      <button
        type="button"
        className={styles['copy']}
        aria-label={`Copy JSON: ${label}`}
        onClick={() => void navigator.clipboard.writeText(printJson(value, true))}
      >
        <Copy size={14} aria-hidden="true" />
      </button>
      {lines.length < VIRTUAL_FROM ? (
        <div className={styles['lines']}>
          {lines.map((line) => (
            <Line key={line.path} line={line} onTurn={turn} />
          ))}
        </div>
      ) : (
        <VirtualLines lines={lines} label={label} onTurn={turn} />
      )}
    </div>
  );
}

function VirtualLines({
  lines,
  label,
  onTurn,
}: {
  readonly lines: readonly JsonLine[];
  readonly label: string;
  readonly onTurn: (path: string) => void;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE_PX,
    getItemKey: (at) => lines[at]?.path ?? at,
    overscan: 20,
  });
  return (
    <div
      ref={scroller}
      className={cx(styles['lines'], styles['scrolled'])}
      tabIndex={0}
      role="group"
      aria-label={label}
    >
      <div className={styles['all']} style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ key, index, start }) => {
          const line = lines[index];
          return (
            line && (
              <div
                key={key}
                ref={virtual.measureElement}
                data-index={index}
                className={styles['placed']}
                style={{ transform: `translateY(${String(start)}px)` }}
              >
                <Line line={line} onTurn={onTurn} />
              </div>
            )
          );
        })}
      </div>
    </div>
  );
}

const MOST_INDENT = 24;

function Line({ line, onTurn }: { readonly line: JsonLine; readonly onTurn: (path: string) => void }) {
  const { path, depth, key, value, isOpen } = line;
  const name = key === undefined ? '' : JSON.stringify(key);
  const Chevron = isOpen === true ? ChevronDown : ChevronRight;
  return (
    <div className={styles['line']} style={{ paddingLeft: Math.min(depth, MOST_INDENT) * 14 }}>
      {isOpen === undefined ? (
        <span className={styles['noChevron']} />
      ) : (
        <button
          type="button"
          className={styles['chevron']}
          aria-expanded={isOpen}
          aria-label={`${name === '' ? 'value' : name} ${sizeWords(value)}`}
          onClick={() => {
            onTurn(path);
          }}
        >
          <Chevron size={14} aria-hidden="true" />
        </button>
      )}
      {key !== undefined && <span className={styles['key']}>{name}: </span>}
      <Scalar value={value} />
    </div>
  );
}

function Scalar({ value }: { readonly value: Json }) {
  switch (value.kind) {
    case 'object':
    case 'array':
      return <span className={styles['size']}>{sizeWords(value)}</span>;
    case 'string':
      return (
        <span className={styles['string']}>
          <LongText text={value.text}>
            {(shown) => JSON.stringify(shown).replaceAll('\\n', '\n').replaceAll('\\"', '"')}
          </LongText>
        </span>
      );
    case 'number':
      return <span className={styles['number']}>{value.digits}</span>;
    case 'literal':
      return <span className={styles['literal']}>{String(value.value)}</span>;
  }
}
