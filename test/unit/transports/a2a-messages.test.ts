import { expect, test } from 'vitest';
import { mailboxExtension } from '../../../packages/core/src/domain/a2a.ts';
import { type WireMessage, type WirePart, wirePart } from '../../../src/presenters/a2a/request.ts';
import { toStoredMessage } from '../../../src/presenters/a2a/stored-message.ts';

const text: WirePart = { text: 'The orders.' };
const bytes: WirePart = { raw: 'YQ==', filename: 'a.csv' };
const link: WirePart = { url: 'https://agents.example/file?signature=1', filename: 'a.csv' };
const note: WirePart = { text: 'The file a.csv was removed.' };

const named = (part: WirePart, file: string): WirePart => ({
  ...part,
  metadata: { [mailboxExtension]: { file } },
});
const conversation = { metadata: { [mailboxExtension]: { conversation: 'thd_1' } } };

/** Whether the service takes two messages of one messageId as the same one. */
function isSame(one: Partial<WireMessage>, other: Partial<WireMessage>): boolean {
  const [first, second] = [one, other].map((fields) =>
    toStoredMessage({ messageId: 'one', role: 'ROLE_USER', parts: [text], ...fields }),
  );
  return first?.digest.equals(second?.digest ?? Buffer.alloc(0)) === true;
}

test.each<[string, Partial<WireMessage>, Partial<WireMessage>, boolean]>([
  ['a named file in each form', { parts: [named(bytes, 'a')] }, { parts: [named(link, 'a')] }, true],
  ['a named file and its note', { parts: [named(bytes, 'a')] }, { parts: [named(note, 'a')] }, true],
  ['files of two names', { parts: [named(bytes, 'a')] }, { parts: [named(bytes, 'b')] }, false],
  ['a file without a name in two forms', { parts: [bytes] }, { parts: [link] }, false],
  ['bytes that differ', { parts: [bytes] }, { parts: [{ ...bytes, raw: 'Yg==' }] }, false],
  ['signatures of one link', { parts: [link] }, { parts: [{ ...link, url: `${link.url}2` }] }, true],
  ['another place in a conversation', conversation, { ...conversation, taskId: 't', contextId: 'c' }, true],
  ['another task without one', {}, { taskId: 't' }, false],
  ['another context without one', {}, { contextId: 'c' }, false],
  ['another text', { ...conversation }, { ...conversation, parts: [note] }, false],
])('whether a repeated message is the same one: %s', (_name, one, other, expected) => {
  expect(isSame(one, other)).toBe(expected);
});

test.each([
  ['', true],
  ['YQ==', true],
  ['YQ', true],
  ['YWI=', true],
  ['-_+/', true],
  ['YWJj=', false],
  ['Y', false],
  ['YQ===', false],
  ['Y=Q=', false],
  ['Y Q=', false],
  ['YQ==\n', false],
])('raw is base64: %j is %s', (raw, expected) => {
  expect(wirePart.safeParse({ raw }).success).toBe(expected);
});

test('raw can be as long as the limit allows', () => {
  expect(wirePart.safeParse({ raw: Buffer.alloc(4 * 1024 * 1024).toString('base64') }).success).toBe(true);
});
