import { useId } from 'preact/hooks';
import { Notice } from './content.tsx';

interface SecretProps {
  /** What it is: "Client secret". */
  label: string;
  value: string;
}

/** A value to copy: one click selects all of it, without a script. */
export function CopyValue({ label, value }: SecretProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <output class="copy" id={id}>
        {value}
      </output>
    </div>
  );
}

interface OneTimeSecretsProps {
  secrets: readonly SecretProps[];
  /** What we do with it. */
  storageNote?: string;
}

/** Secrets that are shown this once. Answer the form with such a page; never redirect to one. */
export function OneTimeSecrets({
  secrets,
  storageNote = 'We keep only a fingerprint of it',
}: OneTimeSecretsProps) {
  return (
    <div class="stack">
      <Notice tone="warning" title="Copy this now">
        It is shown this once. {storageNote} and cannot show it again.
      </Notice>
      {secrets.map((secret) => (
        <CopyValue {...secret} key={secret.label} />
      ))}
    </div>
  );
}
