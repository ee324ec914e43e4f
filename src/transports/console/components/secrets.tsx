import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import type { ShownPage } from '../route.ts';
import { Card, Notice } from './content.tsx';
import { Actions, ButtonLink } from './form.tsx';

interface SecretProps {
  /** Such as "Client secret". */
  label: string;
  value: string;
}

/** A value to copy. One click selects all of it. */
export function CopyValue({ label, value }: SecretProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <output class="copy" id={id} data-copy>
        {value}
      </output>
    </div>
  );
}

/** Text in several lines to copy, such as a program. */
export function CopyText({ label, text }: { label: string; text: string }) {
  return (
    <pre tabIndex={0} role="region" aria-label={label} data-copy>
      {text}
    </pre>
  );
}

interface SecretPage {
  heading: ComponentChildren;
  /** Title of the card. */
  title?: string;
  secrets: readonly SecretProps[];
  /** How the secret is stored. */
  storageNote?: string;
  /** What the secret is for. */
  text: ComponentChildren;
  /** The page that follows. */
  next: string;
}

/** The page with a new signing secret of a webhook. */
export const signingSecretPage = (value: string, page: Pick<SecretPage, 'heading' | 'title' | 'next'>) =>
  secretPage({
    ...page,
    secrets: [{ label: 'Signing secret', value }],
    storageNote: 'We store it encrypted',
    text: (
      <p>
        Your server uses it to verify requests from this service, for example with a Standard Webhooks
        library. Each request has the headers <span class="code">webhook-id</span>,{' '}
        <span class="code">webhook-timestamp</span> and <span class="code">webhook-signature</span>.
      </p>
    ),
  });

/** A page with secrets that are shown once. Answer the form with it; a redirect target would show them again. */
export function secretPage({ heading, title, secrets, storageNote, text, next }: SecretPage): ShownPage {
  const body = (
    <>
      {heading}
      <Card title={title}>
        <div class="stack">
          <Notice tone="warning" title="Copy this now">
            It is shown only once. {storageNote ?? 'We store only a hash of it'} and cannot show it again.
          </Notice>
          {secrets.map((secret) => (
            <CopyValue {...secret} key={secret.label} />
          ))}
        </div>
        {text}
        <Actions>
          <ButtonLink href={next} kind="primary">
            Done
          </ButtonLink>
        </Actions>
      </Card>
    </>
  );
  return { title: 'Copy the secret', body };
}
