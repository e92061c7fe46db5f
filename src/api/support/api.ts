/** The API as other extensions see it. */
export interface Api {
  /** Where it listens, as configured. */
  readonly endpoint: string;
  readonly isApi: true;
}

/** Finds the API among extensions. */
export function isApi(candidate: unknown): candidate is Api {
  return typeof candidate === 'object' && candidate !== null && 'isApi' in candidate;
}
