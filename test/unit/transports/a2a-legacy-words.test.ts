import { expect, test } from 'vitest';
import { legacyMethods, toLegacyText } from '../../../src/presenters/a2a/legacy.ts';
import { readSources } from '../architecture/source-files.ts';

/** Names of A2A 1.0 that a client of 0.3 does not know. */
const currentNames = new RegExp(
  `\\b(?:ROLE_\\w+|TASK_STATE_\\w+|returnImmediately|taskPushNotificationConfig|mediaType|(?:raw|url)(?:,| or| and| parts?)|${Object.values(legacyMethods).join('|')})\\b`,
);

/** The texts of several words that name one of them. */
function findTexts(): string[] {
  const sources = readSources(['src/presenters/a2a', 'src/transports/a2a', 'src/operations/a2a']);
  return sources.flatMap(({ text }) =>
    Array.from(text.matchAll(/(['`])((?:(?!\1)[^\n])* (?:(?!\1)[^\n])*)\1/g), ([, , words = '']) =>
      words.replaceAll(/\$\{[^}]*\}/g, 'x'),
    ).filter((words) => /[a-z]{2,} [a-z]{2,}/.test(words) && currentNames.test(words)),
  );
}

test('no error at the address of 0.3 has a name of 1.0', () => {
  const texts = findTexts();
  expect(texts).toContain('must be ROLE_USER');
  expect(texts.map(toLegacyText).filter((text) => currentNames.test(text))).toEqual([]);
});
