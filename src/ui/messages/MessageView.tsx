import { useMemo } from 'react';
import { Bot, Cog, MessageSquare, User, Wrench } from 'lucide-react';
import { printJson, tryParseJson, type Json } from '../json/parse.js';
import { JsonView } from '../json/JsonView.js';
import { textKind } from '../json/text-kind.js';
import { cx } from '../parts/cx.js';
import { LongText } from './LongText.js';
import { Markdown } from './Markdown.js';
import { textAndPictures } from './media.js';
import { MediaView } from './MediaView.js';
import type { Message, Part, Role } from './message.js';
import { ReadButton } from './Reading.js';
import styles from './messages.module.css';

const LABELS: Readonly<Record<Role, string>> = {
  system: 'System',
  user: 'User',
  assistant: 'Assistant',
  tool: 'Tool',
  other: 'Other',
};
const ICONS = { system: Cog, user: User, assistant: Bot, tool: Wrench, other: MessageSquare } as const;

type Result = Extract<Part, { readonly kind: 'result' }>;

/** Messages, with each tool result next to its call. */
export function MessageView({
  messages,
  limit,
  bare,
}: {
  readonly messages: readonly Message[];
  /** Characters shown of a text at first. */
  readonly limit?: number | undefined;
  /** The role that the place of the messages already tells; it is not named, and no message has a border. */
  readonly bare?: Role | undefined;
}) {
  const results = resultsById(messages);
  const placed = new Set<Part>();
  for (const message of messages)
    for (const part of message.parts)
      if (part.kind === 'call' && part.id !== undefined) {
        const result = results.get(part.id);
        if (result) placed.add(result);
      }
  return (
    <ol className={styles['conversation']}>
      {messages.map((message, at) => {
        const parts = message.parts.filter((part) => !placed.has(part));
        if (parts.length === 0) return null;
        const Icon = ICONS[message.role];
        return (
          <li
            key={at}
            className={cx(styles['message'], bare === undefined ? styles[message.role] : styles['bare'])}
          >
            {message.role !== bare && (
              <div className={styles['role']}>
                <Icon size={14} aria-hidden="true" />
                {LABELS[message.role]}
                {message.name !== undefined && <span>{message.name}</span>}
              </div>
            )}
            {parts.map((part, index) => (
              <PartView key={index} part={part} results={results} limit={limit} />
            ))}
          </li>
        );
      })}
    </ol>
  );
}

function resultsById(messages: readonly Message[]): ReadonlyMap<string, Result> {
  const results = new Map<string, Result>();
  for (const { parts } of messages)
    for (const part of parts) if (part.kind === 'result' && part.id !== undefined) results.set(part.id, part);
  return results;
}

function PartView({
  part,
  results,
  limit,
}: {
  readonly part: Part;
  readonly results: ReadonlyMap<string, Result>;
  readonly limit: number | undefined;
}) {
  switch (part.kind) {
    case 'text':
      return textAndPictures(part.text).map((piece, at) =>
        typeof piece === 'string' ? (
          <LongText key={at} text={piece} limit={limit}>
            {(shown) => <Markdown text={shown} />}
          </LongText>
        ) : (
          <MediaView key={at} part={piece} />
        ),
      );
    case 'reasoning':
      return (
        <details className={styles['reasoning']}>
          <summary>Reasoning</summary>
          <LongText text={part.text} limit={limit}>
            {(shown) => <Markdown text={shown} />}
          </LongText>
        </details>
      );
    case 'call': {
      const result = part.id === undefined ? undefined : results.get(part.id);
      return (
        <div className={styles['call']}>
          <div className={styles['callName']}>
            <Wrench size={14} aria-hidden="true" /> {part.name}
          </div>
          {part.input !== undefined && <Value label="Arguments" value={part.input} />}
          {result && <ResultView result={result} />}
        </div>
      );
    }
    case 'result':
      return (
        <div className={styles['call']}>
          {part.name !== undefined && <div className={styles['callName']}>{part.name}</div>}
          <ResultView result={part} />
        </div>
      );
    case 'media':
      return <MediaView part={part} />;
    case 'unknown':
      return <JsonView value={part.value} label="Message part" />;
  }
}

function ResultView({ result }: { readonly result: Result }) {
  if (result.output === undefined) return <p className={styles['faint']}>No result.</p>;
  return <Value label={result.isError ? 'Error' : 'Result'} value={result.output} isError={result.isError} />;
}

/** A tool argument or result: strings as text unless they contain JSON, other values as JSON, short JSON on one line. */
export function Value({
  label,
  value: sent,
  isError = false,
}: {
  readonly label: string;
  readonly value: Json;
  readonly isError?: boolean;
}) {
  const value = useMemo(() => jsonIn(sent), [sent]);
  const line = value.kind === 'string' ? value.text : printJson(value);
  const isShort = line.length <= 120;
  const isText = value.kind === 'string' && textKind(value.text).kind !== 'base64';
  return (
    <div className={cx(styles['value'], isError && styles['error'])}>
      <span className={styles['valueLabel']}>
        {label}
        {isText && line.length > LONG && (
          <ReadButton text={line} label={label} className={styles['hidden']} />
        )}
      </span>
      {isText || isShort ? (
        <LongText text={line}>{(shown) => <pre tabIndex={isShort ? undefined : 0}>{shown}</pre>}</LongText>
      ) : (
        <JsonView value={value} label={label} />
      )}
    </div>
  );
}

function jsonIn(value: Json): Json {
  if (value.kind !== 'string' || textKind(value.text).kind !== 'json') return value;
  return tryParseJson(value.text) ?? value;
}

/** Longer texts have a reading view. */
const LONG = 600;
