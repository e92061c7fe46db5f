/** Something to send to a host, for an owner: an organization or a user. */
interface Sent {
  /** Undefined for an item without a host, which is not limited. */
  readonly host: string | undefined;
  readonly owner: string;
}

/** Limits running attempts to each host, over all owners, who share it fairly. */
export class HostTurns {
  readonly #perHost: number;
  /** Running attempts by host, then by owner. */
  readonly #underWay = new Map<string, Map<string, number>>();

  constructor(perHost: number) {
    this.#perHost = perHost;
  }

  /** Counts running attempts. */
  add({ host, owner }: Sent, count: number): void {
    if (host === undefined || count === 0) return;
    const owners = this.#underWay.get(host) ?? new Map<string, number>();
    this.#underWay.set(host, owners.set(owner, (owners.get(owner) ?? 0) + count));
  }

  /** How many attempts to a host can start. */
  roomOf(host: string | undefined): number {
    if (host === undefined) return Infinity;
    let underWay = 0;
    for (const count of this.#underWay.get(host)?.values() ?? []) underWay += count;
    return Math.max(0, this.#perHost - underWay);
  }

  /**
   * Selects the items that hosts have room for. At each host, owners with the fewest attempts come first.
   *
   * @param items in order for each owner
   */
  withinRoom<Item extends Sent>(items: readonly Item[]): ReadonlySet<Item> {
    const byHost = new Map<string | undefined, { readonly item: Item; readonly turn: number }[]>();
    const turns = new Map<string | undefined, Map<string, number>>();
    for (const item of items) {
      const { host, owner } = item;
      const owners = turns.get(host) ?? new Map<string, number>();
      const turn = owners.get(owner) ?? this.#underWay.get(host ?? '')?.get(owner) ?? 0;
      turns.set(host, owners.set(owner, turn + 1));
      const ofHost = byHost.get(host);
      if (ofHost === undefined) byHost.set(host, [{ item, turn }]);
      else ofHost.push({ item, turn });
    }
    return new Set(
      [...byHost].flatMap(([host, ofHost]) =>
        ofHost
          .sort((a, b) => a.turn - b.turn)
          .slice(0, this.roomOf(host))
          .map(({ item }) => item),
      ),
    );
  }
}

/** The normalized host of a URL; undefined if it has none. */
export function hostOfUrl(url: string | null): string | undefined {
  if (url === null || !URL.canParse(url)) return undefined;
  return new URL(url).hostname.replace(/\.$/, '');
}
