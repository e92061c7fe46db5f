import {
  BellRing,
  Bot,
  Boxes,
  ChartLine,
  Gauge,
  House,
  ListTree,
  Logs,
  MessagesSquare,
  ScrollText,
  Settings,
  Users as UsersIcon,
  Waypoints,
  Webhook,
  Workflow,
  Wrench,
  type LucideIcon,
} from 'lucide-react';

interface Place {
  readonly path: string;
  readonly name: string;
  readonly icon: LucideIcon;
  /** Further paths of the page. */
  readonly also: string;
  readonly isForAdmins?: true;
}

/** All pages in navigation order. */
const PLACES: readonly Place[] = [
  { path: '/', name: 'Overview', icon: House, also: '/overview' },
  { path: '/agents', name: 'Agents', icon: Bot, also: '/agents/' },
  { path: '/runs', name: 'Runs', icon: ListTree, also: '/traces/' },
  { path: '/sessions', name: 'Sessions', icon: MessagesSquare, also: '/sessions/' },
  { path: '/users', name: 'Users', icon: UsersIcon, also: '/users/' },
  { path: '/prompts', name: 'Prompts', icon: ScrollText, also: '/prompts/' },
  { path: '/map', name: 'Map', icon: Waypoints, also: '/map/' },
  { path: '/models', name: 'Models', icon: Boxes, also: '/models/' },
  { path: '/tools', name: 'Tools', icon: Wrench, also: '/tools/' },
  { path: '/explore/metrics', name: 'Metrics', icon: ChartLine, also: '/explore/metrics/' },
  { path: '/logs', name: 'Logs', icon: Logs, also: '/logs/' },
  { path: '/alerts', name: 'Alerts', icon: BellRing, also: '/alerts/' },
  { path: '/webhooks', name: 'Webhooks', icon: Webhook, also: '/webhooks/' },
  { path: '/usage', name: 'Usage', icon: Gauge, also: '/usage/' },
  { path: '/daemon', name: 'Daemon', icon: Workflow, also: '/daemon/', isForAdmins: true },
  { path: '/settings', name: 'Settings', icon: Settings, also: '/settings/' },
];

/** Pages that these scopes may see. */
export function placesFor(scopes: readonly string[]): readonly Place[] {
  return PLACES.filter(({ isForAdmins }) => isForAdmins !== true || scopes.includes('admin'));
}
