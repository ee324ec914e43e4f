import { useId } from 'preact/hooks';
import { Notice } from './content.tsx';

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

/** Text in several lines to copy, such as a program. The page names the script `copy`. */
export function CopyText({ label, text }: { label: string; text: string }) {
  return (
    <pre tabIndex={0} role="region" aria-label={label} data-copy>
      {text}
    </pre>
  );
}

interface OneTimeSecretsProps {
  secrets: readonly SecretProps[];
  /** How the secret is stored. */
  storageNote?: string;
}

/** Secrets that are shown once. Answer the form with this page; a redirect target would show them again. */
export function OneTimeSecrets({ secrets, storageNote = 'We store only a hash of it' }: OneTimeSecretsProps) {
  return (
    <div class="stack">
      <Notice tone="warning" title="Copy this now">
        It is shown only once. {storageNote} and cannot show it again.
      </Notice>
      {secrets.map((secret) => (
        <CopyValue {...secret} key={secret.label} />
      ))}
    </div>
  );
}
