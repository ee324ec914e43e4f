import { expect, test } from 'vitest';
import { outcomeText } from '../../../../src/transports/console/pages/approvals/list.tsx';

const approved = {
  state: 'approved',
  is_review: false,
  stored: null,
  expires_at: 2,
  used_at: 1,
  decided_via: 'page',
  decided_by: 'ada',
  decided_by_agent: null,
} as const;

test.each([
  [{}, 'ada approved it, and it was done.'],
  [{ decided_via: 'operator', decided_by: null }, 'An operator approved it, and it was done.'],
  [{ decided_via: 'program', decided_by: null }, 'The user of the app approved it, and it was done.'],
  [
    { decided_via: 'agent', decided_by: null, decided_by_agent: 'ada.helper' },
    '@ada.helper approved it, and it was done.',
  ],
  [{ state: 'denied' }, 'ada denied it. The agent can ask again 24 hours after its request.'],
  [{ state: 'denied', expires_at: 1 }, 'ada denied it.'],
  [
    { state: 'denied', is_review: true, decided_via: 'agent', decided_by_agent: 'ada.helper' },
    '@ada.helper denied it.',
  ],
] as const)('%o is described as: %s', (changes, words) => {
  expect(outcomeText({ ...approved, ...changes }, 1)).toBe(words);
});
