import type { WaitingItem, WaitingKind } from '../domain/notifications.ts';

/** The labels of pending items. */
const waitingLabels: Record<WaitingKind, string> = {
  approval: 'Approval',
  contact_request: 'Contact request',
  question: 'Asks a person',
  no_answer: 'No answer yet',
  webhook: 'Webhook',
  inbox: 'Inbox',
};

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always' });

/** The age of an item: "5 minutes ago". */
function ageText(since: number, now: number): string {
  const [unit, lengthMs] = units.find(([, unitMs]) => now - since >= unitMs) ?? [];
  return unit === undefined ? 'just now' : relative.format(-Math.trunc((now - since) / lengthMs), unit);
}

/** The body of a notification that is posted to a URL. Times in milliseconds. */
export function presentNotification(
  purpose: 'items' | 'test',
  items: readonly WaitingItem[],
  { public_url, now }: { public_url: string; now: number },
) {
  return {
    type: purpose === 'test' ? ('notification.test' as const) : ('notification' as const),
    created_at: now,
    items: items.map(({ kind, agent_handle, text, since, path }) => {
      return { kind, agent: agent_handle, text, since, url: `${public_url}${path}` };
    }),
  };
}

/** What every message to a person needs. */
interface MailContext {
  public_url: string;
  /** Milliseconds. */
  now: number;
  username: string;
}

interface MailText {
  subject: string;
  text: string;
  html: string;
}

/** A message about pending items, as text and as HTML. */
export function presentItemsMail(
  items: readonly WaitingItem[],
  { public_url, now, username, unsubscribe }: MailContext & { unsubscribe: string },
): MailText {
  const count = items.length;
  const subject = count === 1 ? (items[0]?.text ?? '') : `${count} items wait for you`;
  const rows = items.map(({ kind, text, since, path }) => ({
    text,
    note: `${waitingLabels[kind]}, ${ageText(since, now)}`,
    url: `${public_url}${path}`,
  }));
  const intro = `Hello ${username}, ${count === 1 ? 'this waits' : 'these items wait'} for you:`;
  const home = `Everything that waits: ${public_url}/console`;
  const off = `Turn off these e-mails: ${unsubscribe}`;
  const listed = rows.map(({ text, note, url }) => `* ${text}\n  ${note}\n  ${url}`);
  const list = rows.map(
    ({ text, note, url }) =>
      `<li><a href="${escapeHtml(url)}">${escapeHtml(text)}</a><br>${escapeHtml(note)}</li>`,
  );
  return {
    subject,
    text: [intro, ...listed, home, off].join('\n\n'),
    html: toDocument([
      `<p>${escapeHtml(intro)}</p>`,
      `<ul>${list.join('')}</ul>`,
      `<p><a href="${escapeHtml(public_url)}/console">Everything that waits</a></p>`,
      `<p><a href="${escapeHtml(unsubscribe)}">Turn off these e-mails</a></p>`,
    ]),
  };
}

/** A message that was requested on the settings page. */
export function presentTestMail({
  public_url,
  username,
  unsubscribe,
}: Omit<MailContext, 'now'> & { unsubscribe: string }): MailText {
  const sentence = `This is a test message. ${username} gets notifications of ${public_url} at this address.`;
  return {
    subject: 'Test message',
    text: `${sentence}\n\nTurn off these e-mails: ${unsubscribe}`,
    html: toDocument([
      `<p>${escapeHtml(sentence)}</p>`,
      `<p><a href="${escapeHtml(unsubscribe)}">Turn off these e-mails</a></p>`,
    ]),
  };
}

/** A message with the link that confirms an address. */
export function presentConfirmationMail({
  public_url,
  username,
  link,
}: Omit<MailContext, 'now'> & { link: string }): MailText {
  const sentence = `The account ${username} of ${public_url} asks to send notifications to this address. If this is you, open the link within 24 hours. Otherwise ignore this message; you get no others.`;
  return {
    subject: 'Confirm your e-mail address',
    text: `${sentence}\n\n${link}`,
    html: toDocument([
      `<p>${escapeHtml(sentence)}</p>`,
      `<p><a href="${escapeHtml(link)}">Confirm the address</a></p>`,
    ]),
  };
}

function toDocument(parts: readonly string[]): string {
  return `<!doctype html><html lang="en"><body>${parts.join('')}</body></html>`;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '');
}
