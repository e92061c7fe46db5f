import { Lexer, type Token, type Tokens } from 'marked';
import { createElement, useMemo, type ReactNode } from 'react';
import styles from './messages.module.css';
import { safeLink } from './safe-link.js';

/** Longer texts are shown as plain text. */
const MAX_MARKDOWN = 65_536;
/** Nesting that stalls the lexer and that no one writes. */
const ABSURD = /(?:>[ \t]*){40}|[[\]()*_~`]{100}/;

/**
 * Renders Markdown of models. Tokens become elements of known kinds: no HTML is interpreted, and images are
 * named, not loaded.
 */
export function Markdown({ text }: { readonly text: string }) {
  const tokens = useMemo(() => tokensOf(text), [text]);
  if (tokens === undefined) return <p className={styles['plain']}>{text}</p>;
  return <div className={styles['markdown']}>{blocks(tokens)}</div>;
}

function tokensOf(text: string): readonly Token[] | undefined {
  if (text.length > MAX_MARKDOWN || ABSURD.test(text)) return undefined;
  try {
    return new Lexer({ gfm: true, breaks: true }).lex(text);
  } catch {
    // Thousands of nested quotes exceed the stack.
    return undefined;
  }
}

function blocks(tokens: readonly Token[] | undefined): ReactNode {
  return tokens?.map((token, at) => <Block key={at} token={token} />);
}

function Block({ token }: { readonly token: Token }): ReactNode {
  switch (token.type) {
    case 'space':
    case 'def':
      return null;
    case 'hr':
      return <hr />;
    case 'heading':
      // Below the headings of the page; the font size shows the level.
      return createElement(
        'p',
        { className: styles[`heading${String(Math.min(4, Number(token['depth'])))}`] },
        inlines(token.tokens),
      );
    case 'code':
      return <pre tabIndex={0}>{token.text as string}</pre>;
    case 'blockquote':
      return <blockquote>{blocks(token.tokens)}</blockquote>;
    case 'list':
      return <List list={token as Tokens.List} />;
    case 'table':
      return <Table table={token as Tokens.Table} />;
    case 'paragraph':
      return <p>{inlines(token.tokens)}</p>;
    case 'text':
      return token.tokens ? <p>{inlines(token.tokens)}</p> : <p>{token.text as string}</p>;
    default:
      return <p className={styles['plain']}>{token.raw}</p>;
  }
}

function List({ list }: { readonly list: Tokens.List }) {
  const items = list.items.map((item, at) => (
    <li key={at}>
      {item.task && <span>{item.checked ? '☑ ' : '☐ '}</span>}
      {blocks(item.tokens)}
    </li>
  ));
  return list.ordered ? (
    <ol start={typeof list.start === 'number' ? list.start : 1}>{items}</ol>
  ) : (
    <ul>{items}</ul>
  );
}

function Table({ table }: { readonly table: Tokens.Table }) {
  return (
    <div className={styles['tableWrap']} tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>
            {table.header.map((cell, at) => (
              <th key={at} scope="col">
                {inlines(cell.tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, at) => (
            <tr key={at}>
              {row.map((cell, column) => (
                <td key={column}>{inlines(cell.tokens)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inlines(tokens: readonly Token[] | undefined): ReactNode {
  return tokens?.map((token, at) => <Inline key={at} token={token} />);
}

function Inline({ token }: { readonly token: Token }): ReactNode {
  switch (token.type) {
    case 'strong':
      return <strong>{inlines(token.tokens)}</strong>;
    case 'em':
      return <em>{inlines(token.tokens)}</em>;
    case 'del':
      return <del>{inlines(token.tokens)}</del>;
    case 'codespan':
      return <code>{token.text as string}</code>;
    case 'br':
      return <br />;
    case 'link':
      return <OutwardLink href={token['href'] as string}>{inlines(token.tokens)}</OutwardLink>;
    case 'image':
      return (
        <span className={styles['media']}>{`image: ${token.text as string} ${token['href'] as string}`}</span>
      );
    case 'text':
    case 'escape':
      return 'tokens' in token ? inlines(token.tokens) : unescaped(token);
    default:
      return token.raw;
  }
}

/** The raw text of an escape; React escapes it itself. */
function unescaped(token: Token): string {
  return token.type === 'escape' ? (token.text as string) : token.raw;
}

/** A link in trace content: only http, https and mailto, without a referrer. */
function OutwardLink({ href, children }: { readonly href: string; readonly children: ReactNode }) {
  const safe = safeLink(href);
  if (safe === undefined) return <span title={href}>{children}</span>;
  return (
    <a href={safe} target="_blank" rel="noopener noreferrer nofollow" title={safe}>
      {children}
    </a>
  );
}
