import type { Host } from '../../component/host.js';
import type { Audit } from './audit.js';

/** The API as other extensions see it. */
export interface Api {
  /** The configured endpoint. */
  readonly endpoint: string;
  readonly isApi: true;
  /** Origins whose pages may call it, in lower case; `*` for any. */
  readonly allowedOrigins: readonly string[];
  /** Logs and stores an action. */
  readonly audit: Audit;
}

/** Finds the API among extensions. */
export function isApi(candidate: unknown): candidate is Api {
  return typeof candidate === 'object' && candidate !== null && 'isApi' in candidate;
}

/** The endpoint of extension `query`; null in a daemon without it. */
export function endpointOfQuery(host: Pick<Host, 'extension'>): string | null {
  try {
    return host.extension('query', isApi).endpoint;
  } catch {
    return null;
  }
}
