import { Bot, Cog, FileImage, MessageSquare, User, Wrench } from 'lucide-react';
import { printJson, type Json } from '../json/parse.js';
import { JsonView } from '../json/JsonView.js';
import { cx } from '../parts/cx.js';
import { LongText } from './LongText.js';
import { Markdown } from './Markdown.js';
import type { Conversation, Message, Part, Role } from './message.js';
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

/** A conversation, with each tool result next to its call. */
export function MessageView({ conversation }: { readonly conversation: Conversation }) {
  const results = resultsById(conversation.messages);
  const placed = new Set<Part>();
  for (const message of conversation.messages)
    for (const part of message.parts)
      if (part.kind === 'call' && part.id !== undefined) {
        const result = results.get(part.id);
        if (result) placed.add(result);
      }
  return (
    <ol className={styles['conversation']}>
      {conversation.messages.map((message, at) => {
        const parts = message.parts.filter((part) => !placed.has(part));
        if (parts.length === 0) return null;
        const Icon = ICONS[message.role];
        return (
          <li key={at} className={cx(styles['message'], styles[message.role])}>
            <div className={styles['role']}>
              <Icon size={14} aria-hidden="true" />
              {LABELS[message.role]}
              {message.name !== undefined && <span>{message.name}</span>}
            </div>
            {parts.map((part, index) => (
              <PartView key={index} part={part} results={results} />
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

function PartView({ part, results }: { readonly part: Part; readonly results: ReadonlyMap<string, Result> }) {
  switch (part.kind) {
    case 'text':
      return <LongText text={part.text}>{(shown) => <Markdown text={shown} />}</LongText>;
    case 'reasoning':
      return (
        <details className={styles['reasoning']}>
          <summary>Reasoning</summary>
          <LongText text={part.text}>{(shown) => <Markdown text={shown} />}</LongText>
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
      return (
        <div className={styles['media']}>
          <FileImage size={16} aria-hidden="true" />
          <span>
            {part.what}
            {part.type !== undefined && ` · ${part.type}`}
            {part.source !== undefined && ` · ${part.source}`} (not loaded)
          </span>
        </div>
      );
    case 'unknown':
      return <JsonView value={part.value} label="Message part" />;
  }
}

function ResultView({ result }: { readonly result: Result }) {
  if (result.output === undefined) return <p className={styles['faint']}>No result.</p>;
  return <Value label={result.isError ? 'Error' : 'Result'} value={result.output} isError={result.isError} />;
}

/** A tool argument or result: strings as text, other values as JSON, short JSON on one line. */
function Value({
  label,
  value,
  isError = false,
}: {
  readonly label: string;
  readonly value: Json;
  readonly isError?: boolean;
}) {
  const line = value.kind === 'string' ? value.text : printJson(value);
  const isShort = line.length <= 120;
  return (
    <div className={cx(styles['value'], isError && styles['error'])}>
      <span className={styles['valueLabel']}>{label}</span>
      {value.kind === 'string' || isShort ? (
        <LongText text={line}>{(shown) => <pre tabIndex={isShort ? undefined : 0}>{shown}</pre>}</LongText>
      ) : (
        <JsonView value={value} label={label} />
      )}
    </div>
  );
}
