// The script of the page of a watch link. The page works without it. Its links are ordinary navigations.
import { config } from '@hotwired/turbo';
import './live.js';

config.drive.enabled = false;
