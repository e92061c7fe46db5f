/** A page with its filters, under a name. */
export interface SavedView {
  /** UUID in lower case, which its maker chooses. */
  readonly id: string;
  readonly name: string;
  /** Of the page, below where the pages lie, with its query. */
  readonly path: string;
  /** The organization whose members see it; null: its maker alone. */
  readonly org_slug: string | null;
}

/** A view as a user finds it. */
export interface ListedView extends SavedView {
  /** Whether the user made it, or administers its organization: then it may be changed and removed. */
  readonly may_change: boolean;
}

/** At most so many views a user has made at a time, */
export const VIEWS_OF_A_USER = 100;
/** and an organization sees. */
export const VIEWS_OF_AN_ORGANIZATION = 200;

/** What came of saving a view. `foreign`: the id is of somebody else's; `no_organization`: there is none of which the user is a member. */
export type SavedAs = 'saved' | 'foreign' | 'no_organization' | 'full';

/**
 * Views that users saved. A view is changed and removed by its maker, and by administrators of its organization. Changes are durable when
 * they resolve. Every method may throw a `ConsumeError` with `storage_unavailable` (retryable).
 */
export interface Views {
  /** Those that the user made, and those of the user's organizations, by name. */
  list(userId: string): Promise<readonly ListedView[]>;
  /** Makes a view, or takes the place of the one with its id, which keeps its maker. */
  put(userId: string, view: SavedView): Promise<SavedAs>;
  /** @returns false where the user may remove none with this id */
  remove(userId: string, id: string): Promise<boolean>;
}
