import { codeReviewer } from './agents/code-reviewer.js';
import { contentModerator } from './agents/content-moderator.js';
import { incidentResponder } from './agents/incident-responder.js';
import { invoiceExtractor } from './agents/invoice-extractor.js';
import { leadQualifier } from './agents/lead-qualifier.js';
import { meetingScribe } from './agents/meeting-scribe.js';
import { researchAssistant } from './agents/research-assistant.js';
import { sqlAnalyst } from './agents/sql-analyst.js';
import { supportTriage } from './agents/support-triage.js';
import { travelPlanner } from './agents/travel-planner.js';
import type { AgentProfile } from './profile.js';

/** Every agent of the demo. Append only: the order is part of what a seed means. */
export const PROFILES: readonly AgentProfile[] = [
  supportTriage,
  researchAssistant,
  codeReviewer,
  invoiceExtractor,
  sqlAnalyst,
  incidentResponder,
  contentModerator,
  meetingScribe,
  leadQualifier,
  travelPlanner,
];
