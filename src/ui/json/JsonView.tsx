import { useVirtualizer } from '@tanstack/react-virtual';
import { ChevronDown, ChevronRight, Copy } from 'lucide-react';
import { useMemo, useRef, useState } from 'react';
import { cx } from '../parts/cx.js';
import styles from './json.module.css';
import { jsonLines, formatSize, type JsonLine } from './lines.js';
import { printJson, tryParseJson, type Json } from './parse.js';
import { StringValue } from './StringValue.js';
import { textKind } from './text-kind.js';

const LINE_PX = 21;
/** Shorter documents are rendered without virtualization. */
const VIRTUAL_FROM = 200;

interface Act {
  readonly toggle: (path: string) => void;
  /** Shows a string as the JSON it contains. @returns false if it is not JSON */
  readonly parse: (path: string, text: string) => boolean;
}

/** JSON with every digit and key as sent. Only visible lines are in the DOM. */
export function JsonView({ value, label }: { readonly value: Json; readonly label: string }) {
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const [parsed, setParsed] = useState<ReadonlySet<string>>(new Set());
  const lines = useMemo(() => jsonLines(value, toggled, parsed), [value, toggled, parsed]);
  const act: Act = {
    toggle: (path) => {
      const next = new Set(toggled);
      if (!next.delete(path)) next.add(path);
      setToggled(next);
    },
    parse: (path, text) => {
      if (tryParseJson(text) === undefined) return false;
      setParsed(new Set([...parsed, path]));
      return true;
    },
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
            <Line key={line.path} line={line} act={act} />
          ))}
        </div>
      ) : (
        <VirtualLines lines={lines} label={label} act={act} />
      )}
    </div>
  );
}

function VirtualLines({
  lines,
  label,
  act,
}: {
  readonly lines: readonly JsonLine[];
  readonly label: string;
  readonly act: Act;
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
                <Line line={line} act={act} />
              </div>
            )
          );
        })}
      </div>
    </div>
  );
}

const MAX_INDENT = 24;
/** Longer texts go below their key if there is little room next to it. */
const LONG_TEXT = 60;

function isLong(value: Json): boolean {
  return value.kind === 'string' && value.text.length > LONG_TEXT && textKind(value.text).kind !== 'base64';
}

function Line({ line, act }: { readonly line: JsonLine; readonly act: Act }) {
  const { path, depth, key, value, isOpen } = line;
  const name = key === undefined ? '' : JSON.stringify(key);
  const Chevron = isOpen === true ? ChevronDown : ChevronRight;
  return (
    <div
      className={cx(styles['line'], isLong(value) && styles['long'])}
      style={{ paddingLeft: Math.min(depth, MAX_INDENT) * 14 }}
    >
      {isOpen === undefined ? (
        <span className={styles['noChevron']} />
      ) : (
        <button
          type="button"
          className={styles['chevron']}
          aria-expanded={isOpen}
          aria-label={`${name === '' ? 'value' : name} ${formatSize(value)}`}
          onClick={() => {
            act.toggle(path);
          }}
        >
          <Chevron size={14} aria-hidden="true" />
        </button>
      )}
      {key !== undefined && <span className={styles['key']}>{name}: </span>}
      <Scalar value={value} label={key ?? 'value'} onParse={(text) => act.parse(path, text)} />
    </div>
  );
}

function Scalar({
  value,
  label,
  onParse,
}: {
  readonly value: Json;
  readonly label: string;
  readonly onParse: (text: string) => boolean;
}) {
  switch (value.kind) {
    case 'object':
    case 'array':
      return <span className={styles['size']}>{formatSize(value)}</span>;
    case 'string':
      return (
        <span className={styles['string']}>
          <StringValue text={value.text} label={label} onParse={() => onParse(value.text)}>
            {(shown) => JSON.stringify(shown).replaceAll('\\n', '\n').replaceAll('\\"', '"')}
          </StringValue>
        </span>
      );
    case 'number':
      return <span className={styles['number']}>{value.digits}</span>;
    case 'literal':
      return <span className={styles['literal']}>{String(value.value)}</span>;
  }
}
