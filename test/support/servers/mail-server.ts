import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

export interface ReceivedMail extends Omit<Email, 'sender'> {
  /** Addresses of the envelope. */
  sender: string;
  recipients: string[];
  /** As it was sent. */
  source: string;
}

/** Answers a message after it has arrived completely: nothing, or an error with the status of the answer. */
export type MailHandler = (mail: ReceivedMail) => Promise<Error | undefined> | Error | undefined;

/** A mail server at a loopback address. It accepts every message unless told otherwise. */
export async function startMailServer(options: SMTPServerOptions = {}) {
  const mails: ReceivedMail[] = [];
  const handler = { accept: (() => undefined) as MailHandler };
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    logger: false,
    onData(stream, session, callback) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => void answer(Buffer.concat(chunks).toString(), session.envelope, callback));
    },
    ...options,
  });

  async function answer(
    source: string,
    envelope: Envelope,
    callback: (error?: Error) => void,
  ): Promise<void> {
    callback(await receive(source, envelope));
  }

  async function receive(source: string, envelope: Envelope): Promise<Error | undefined> {
    const email = await PostalMime.parse(source);
    const sender = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
    const mail = { ...email, sender, recipients: envelope.rcptTo.map(({ address }) => address), source };
    mails.push(mail);
    return handler.accept(mail);
  }
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  // A client that is killed resets its connection.
  server.on('error', () => undefined);
  const address = server.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    /** The messages to an address. */
    mailsTo: (recipient: string) => mails.filter(({ recipients }) => recipients.includes(recipient)),
    setHandler(accept: MailHandler) {
      handler.accept = accept;
    },
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

interface Envelope {
  mailFrom: { address: string } | false;
  rcptTo: { address: string }[];
}

export type MailServer = Awaited<ReturnType<typeof startMailServer>>;

/** Refuses every message with this status. */
export const refuseMail =
  (status: number): MailHandler =>
  () =>
    refused(status);

/** A refusal with this status. */
export const refused = (status: number) => Object.assign(new Error('refused'), { responseCode: status });
