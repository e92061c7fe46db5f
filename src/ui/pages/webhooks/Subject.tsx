import { Link } from 'wouter';
import type { Schemas } from '../../api/client.js';
import { Missing } from '../../parts/Missing.js';

const PLACES = { trace: '/traces/', alert: '/alerts/', agent: '/agents/' } as const;

/** The subject of an event, with a link if it has a page. */
export function Subject({ subject }: { readonly subject: Schemas['ListedDelivery']['subject'] }) {
  if (subject === null) return <Missing reason="Subject unknown" />;
  const { kind, id } = subject;
  const words = `${kind === 'trace' ? 'run' : kind} ${id.slice(0, 8)}`;
  if (kind === 'trace' || kind === 'alert' || kind === 'agent')
    return (
      <Link href={`${PLACES[kind]}${id}`} title={id}>
        {words}
      </Link>
    );
  return <span title={id}>{words}</span>;
}
