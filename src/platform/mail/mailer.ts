import { createTransport } from 'nodemailer';
import { withTimeout } from '../../shared/timeout.ts';
import { getErrorCode } from '../../shared/narrow.ts';

/** A message to one person. */
export interface Mail {
  /** The address alone. */
  to: string;
  subject: string;
  text: string;
  html: string;
  /** The part before the @ of the Message-ID: the same for each attempt. */
  id: string;
  /** A link that turns these messages off with one POST (RFC 8058). */
  unsubscribe?: string;
}

/** Why a message was not accepted. `isFinal`: another attempt has the same result. */
export interface MailFailure {
  error: string;
  isFinal: boolean;
}

export interface Mailer {
  /** Sends a message. Never rejects. @returns undefined when the server has accepted it. */
  send(mail: Mail): Promise<MailFailure | undefined>;
  /** Connects and signs in, without a message. @throws {Error} why the server cannot be used */
  check(): Promise<void>;
}

export interface MailerOptions {
  /** Of the server: `smtp://user:password@host:587` or `smtps://…`. */
  url: string;
  /** The sender: an address, with or without a name. */
  from: string;
  /** The part after the @ of Message-IDs. */
  host: string;
  /** Milliseconds without an answer of the server (10,000). */
  silenceMs?: number;
}

/** Milliseconds for a whole message. */
export const maxSendMs = 15_000;

/** Sends e-mail through an SMTP server. Each message has a connection of its own, so that a slow one does not delay the others. */
export function createMailer({ url, from, host, silenceMs = 10_000 }: MailerOptions): Mailer {
  const timeouts = {
    connectionTimeout: silenceMs,
    greetingTimeout: silenceMs,
    socketTimeout: silenceMs,
    dnsTimeout: silenceMs,
  };
  const transport = createTransport({ url, ...timeouts, disableFileAccess: true, disableUrlAccess: true });
  return {
    async send({ to, subject, text, html, id, unsubscribe }) {
      const headers = {
        'Auto-Submitted': 'auto-generated',
        ...(unsubscribe !== undefined && {
          'List-Unsubscribe': `<${unsubscribe}>`,
          'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
        }),
      };
      // An address as an object is never parsed as a list.
      const message = { from, to: { name: '', address: to }, subject, text, html, headers };
      try {
        const sending = transport.sendMail({ ...message, messageId: `<${id}@${host}>` });
        const result = await withTimeout(maxSendMs, sending, () => null);
        return result === null
          ? { error: 'the mail server did not answer in time', isFinal: false }
          : undefined;
      } catch (error) {
        return describeFailure(error);
      }
    },
    async check() {
      await transport.verify().catch((error: unknown) => {
        throw new Error(describeFailure(error).error);
      });
    },
  };
}

/** Fixed texts and the status code, because the texts of a server can reveal internal addresses. */
function describeFailure(error: unknown): MailFailure {
  const { responseCode: status, command } = error as { responseCode?: unknown; command?: unknown };
  const isLogin = getErrorCode(error) === 'EAUTH';
  if (typeof status !== 'number') {
    const reason = isLogin ? 'refused the sign-in' : 'cannot be reached';
    return { error: `the mail server ${reason}`, isFinal: false };
  }
  // Also the refusal of the sender or of DATA has the code of a wrong envelope.
  const isRecipient = command === 'RCPT TO';
  const part = isRecipient ? 'address' : command === 'MAIL FROM' ? 'sender' : 'message';
  return {
    error: `the mail server refused the ${isLogin ? 'sign-in' : part} (${status})`,
    isFinal: isRecipient && status >= 500,
  };
}
