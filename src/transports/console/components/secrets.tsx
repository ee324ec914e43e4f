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
      <output class="copy" id={id}>
        {value}
      </output>
    </div>
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
