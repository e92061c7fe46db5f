import { Bot, ListTree, type LucideIcon } from 'lucide-react';

interface Place {
  readonly path: string;
  readonly name: string;
  readonly icon: LucideIcon;
  /** Other pages that belong to it. */
  readonly also: string;
}

/** The pages that there are, in the order of the navigation. */
export const PLACES: readonly Place[] = [
  { path: '/agents', name: 'Agents', icon: Bot, also: '/agents/' },
  { path: '/runs', name: 'Runs', icon: ListTree, also: '/traces/' },
];
