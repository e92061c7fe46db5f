import { write, writeSeveral, type Grammar } from '../grammar.js';
import { MODELS } from '../models.js';
import { drawVerdict, type AgentProfile } from '../profile.js';
import type { Recorder } from '../recorder.js';
import { VOCABULARY } from '../vocabulary.js';

const GRAMMAR = {
  ...VOCABULARY,
  wish: [
    'We want to go to {city} for {3-10} days in {month}, two adults and a child of {3-12}. Not more than {900-4000} in total, no flights before nine, and a hotel with a kitchen would be great. {extra}',
    'A long weekend in {city} from {weekday}, as cheap as possible. {extra}',
    'Business trip: {city} and then {city}, {month} {1-28}, I must be back by {weekday} evening. {extra}',
  ],
  extra: [
    'We love small museums and hate queues.',
    'By train if it takes less than {7-12} hours.',
    'My partner does not eat fish.',
    'Please no chains.',
    'I can move the dates by a day or two.',
  ],
  day: [
    'Day {1-9}: arrive at {10-20}:{10-50}, walk through the old town of {city}, dinner near the harbour.',
    'Day {1-9}: the small museum opens at ten; afterwards by tram to the gardens ({2-9} stops).',
    'Day {1-9}: a trip to the coast, {30-90} minutes by train, tickets about {12-40} each.',
    'Day {1-9}: free morning, market until noon, train at {13-19}:{10-50}.',
  ],
} satisfies Grammar;

const SYSTEM =
  'You plan journeys with the tools given. Ask for nothing that you can find out. Keep to the budget, name prices with their source and say which of them may change. Book nothing without a clear yes.';

function shop(recorder: Recorder, agent: string, host: string, tool: string): void {
  const { random } = recorder;
  recorder.agent(agent, { city: write(random, GRAMMAR, '{city}') }, (span) => {
    const tries = random.integer(1, 2);
    for (let attempt = 0; attempt < tries; attempt += 1) {
      recorder.tool(
        tool,
        {
          from: write(random, GRAMMAR, '{city}'),
          to: write(random, GRAMMAR, '{city}'),
          adults: 2,
          flexible: attempt > 0,
        },
        () => {
          recorder.http({ method: 'POST', url: `https://${host}/v3/offers/search`, ms: 1100 });
          return { offers: random.integer(0, 40) };
        },
      );
    }
    recorder.model({
      model: MODELS.haiku,
      name: 'rank offers',
      prompt: write(random, GRAMMAR, 'Rank the offers for this traveller: {wish}'),
      completion: write(
        random,
        GRAMMAR,
        'Best: offer {1-40} for {amount}. Runner-up: offer {1-40}, {5-30} % cheaper but with a change in {city}.',
      ),
      contextTokens: 3000,
    });
    span.output = { chosen: random.integer(1, 40) };
  });
}

function run(recorder: Recorder) {
  const { random } = recorder;
  const wish = write(random, GRAMMAR, '{wish}');
  return recorder.agent('travel-planner', { wish }, (root) => {
    recorder.model({
      model: MODELS.geminiPro,
      fallback: MODELS.gpt5,
      name: 'plan',
      system: SYSTEM,
      prompt: wish,
      completion: 'I look for transport and for a place to stay at the same time, then for things to do.',
      contextTokens: 900,
      reasoningTokens: 500,
    });
    recorder.parallel([
      () => {
        shop(recorder, 'transport-scout', 'fares.example.com', 'search_connections');
      },
      () => {
        shop(recorder, 'hotel-scout', 'stays.example.net', 'search_rooms');
      },
    ]);
    if (random.chance(0.6)) {
      recorder.tool('weather', { city: write(random, GRAMMAR, '{city}') }, () => {
        recorder.http({ method: 'GET', url: 'https://weather.example.org/v1/forecast', ms: 120 });
        return { rain_days: random.integer(0, 6) };
      });
    }
    recorder.database({
      system: 'redis',
      namespace: 'sessions',
      name: 'SET itinerary',
      ms: 2,
      statement: 'SET itinerary:? EX 86400',
    });
    recorder.model({
      model: MODELS.geminiPro,
      fallback: MODELS.sonnet,
      name: 'write itinerary',
      system: SYSTEM,
      prompt: wish,
      completion: writeSeveral(random, GRAMMAR, 'day', random.integer(2, 4), '\n'),
      contextTokens: 2800,
      reasoningTokens: 600,
    });
    root.output = { days: random.integer(2, 10) };
    return drawVerdict(recorder, [
      { outcome: 'booked', success: true, weight: 31 },
      { outcome: 'saved', success: true, weight: 22 },
      { outcome: 'abandoned', success: false, weight: 25 },
      { outcome: 'unknown', weight: 18 },
    ]);
  });
}

/** Plans journeys with two scouts at once. */
export const travelPlanner: AgentProfile = {
  name: 'travel-planner',
  weight: 4,
  rhythm: 'evening',
  sdkVersion: '0.4.1',
  metadata: { environment: 'production', team: 'consumer', region: 'ap-northeast-1' },
  run,
};
