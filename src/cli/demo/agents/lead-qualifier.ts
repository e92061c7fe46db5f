import { write, type Grammar } from '../grammar.js';
import { MODELS } from '../models.js';
import { drawVerdict, type AgentProfile } from '../profile.js';
import type { Recorder } from '../recorder.js';
import { VOCABULARY } from '../vocabulary.js';

const GRAMMAR = {
  ...VOCABULARY,
  inquiry: [
    'We are {company}, {20-900} people, based in {city}. We are looking for a replacement for our current {service} system before {month}. Our budget is around {10-90} thousand. Could we get a demo on {weekday}?',
    'Hi, saw your talk in {city}. How do your prices compare for about {50-4000} seats? We use a home-grown {service} tool today and it is falling apart. {person}, {company}',
    'student project about {service} software, can you send material? thanks, {first_name}',
  ],
  rationale: [
    'Right size, a date and a budget are named, and the writer decides. Weak point: no word about integration.',
    'Interest is real, but timing is open and the number of seats is a guess. Nurture for two months.',
    'No commercial interest.',
    'A competitor’s partner, judging by the domain; sales should look before anything is sent.',
  ],
  mail: [
    'Hello {first_name},\n\nthank you for your message. For a team of your size most customers start with a pilot of {4-8} weeks; I have attached how {company} did it. Would {weekday} at {9-16}:{10-50} suit you for a call of thirty minutes?\n\nBest regards\n{person}',
  ],
} satisfies Grammar;

const SYSTEM =
  'Score inbound leads from 0 to 100 by fit (size, industry, region), intent (date, budget, decision maker) and effort. Answer with JSON: {"score", "tier": "A" | "B" | "C", "rationale"}. Do not use the name, gender or origin of a person.';

function run(recorder: Recorder) {
  const { random } = recorder;
  const inquiry = write(random, GRAMMAR, '{inquiry}');
  return recorder.agent('lead-qualifier', { form: 'contact-sales', inquiry }, (root) => {
    recorder.parallel([
      () => {
        recorder.survives(() => {
          recorder.http({
            method: 'GET',
            url: `https://enrich.example.net/v2/companies?domain=${random.uint32().toString(36)}.example`,
            ms: 320,
            response: { employees: random.integer(4, 9000) },
          });
        });
      },
      () => {
        recorder.database({
          system: 'mysql',
          namespace: 'crm',
          name: 'SELECT accounts',
          ms: 11,
          statement: 'SELECT id, owner_id, stage FROM accounts WHERE domain = ?',
          output: { rows: random.integer(0, 1) },
        });
      },
    ]);
    const score = random.integer(3, 98);
    const tier = score > 70 ? 'A' : score > 40 ? 'B' : 'C';
    recorder.model({
      model: MODELS.gpt41,
      fallback: MODELS.haiku,
      name: 'score',
      system: SYSTEM,
      prompt: inquiry,
      completion: JSON.stringify({ score, tier, rationale: write(random, GRAMMAR, '{rationale}') }),
      contextTokens: 700,
    });
    if (tier !== 'C') {
      recorder.model({
        model: MODELS.sonnet,
        name: 'write mail',
        prompt: `Write a short answer to this inquiry. Offer a call, promise nothing.\n\n${inquiry}`,
        completion: write(random, GRAMMAR, '{mail}'),
        contextTokens: 500,
      });
    }
    recorder.database({
      system: 'mysql',
      namespace: 'crm',
      name: 'UPDATE leads',
      ms: 8,
      statement: 'UPDATE leads SET score = ?, tier = ?, scored_at = NOW() WHERE id = ?',
      output: { rows: 1 },
    });
    root.output = { score, tier };
    return drawVerdict(recorder, [
      { outcome: `tier_${tier.toLowerCase()}`, success: true, weight: 52 },
      { outcome: 'rejected_by_sales', success: false, weight: 9 },
      { outcome: `tier_${tier.toLowerCase()}`, weight: 39 },
    ]);
  });
}

/** Scores inquiries and answers the promising ones. */
export const leadQualifier: AgentProfile = {
  name: 'lead-qualifier',
  weight: 9,
  rhythm: 'office',
  sdkVersion: '0.3.7',
  metadata: { environment: 'production', team: 'sales-operations', region: 'eu-west-1' },
  run,
};
