import { member, type Json } from '../../json/parse.js';
import { JsonView } from '../../json/JsonView.js';
import { readConversation } from '../../messages/conversation.js';
import { MessageView } from '../../messages/MessageView.js';
import styles from './run.module.css';

/** Whether a span contains a conversation. */
export function hasConversation(detail: Json): boolean {
  return conversationsOf(detail).length > 0;
}

function conversationsOf(detail: Json) {
  return (['input', 'output'] as const).flatMap((side) => {
    const value = member(detail, `${side}_data`);
    const conversation = value === undefined ? undefined : readConversation(value, side);
    return conversation === undefined ? [] : [{ side, conversation }];
  });
}

/** The conversation of a span, followed by the rest of its payload. */
export function MessagesTab({ detail }: { readonly detail: Json }) {
  const sides = conversationsOf(detail);
  const messages = sides.flatMap(({ conversation }) => conversation.messages);
  const unread = (['input', 'output'] as const).flatMap((side) => {
    const value = member(detail, `${side}_data`);
    const isRead = sides.some((each) => each.side === side);
    const isNothing = value === undefined || (value.kind === 'literal' && value.value === null);
    return isRead || isNothing ? [] : [{ side, value }];
  });
  const plain = (of: 'input' | 'output') =>
    unread
      .filter(({ side }) => side === of)
      .map(({ side, value }) => (
        <section key={side} className={styles['stack']}>
          <h3>{side === 'input' ? 'Input' : 'Output'}</h3>
          <JsonView value={value} label={side} />
        </section>
      ));
  return (
    <div className={styles['stack']}>
      {plain('input')}
      <MessageView conversation={{ messages, rest: [] }} />
      {plain('output')}
      {sides
        .filter(({ conversation }) => conversation.rest.length > 0)
        .map(({ side, conversation }) => (
          <details key={side} className={styles['rest']}>
            <summary>{side === 'input' ? 'Request parameters' : 'Response details'}</summary>
            <JsonView
              value={{ kind: 'object', entries: conversation.rest }}
              label={side === 'input' ? 'request parameters' : 'response details'}
            />
          </details>
        ))}
    </div>
  );
}
