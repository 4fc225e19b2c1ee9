dist_man_MANS += %D%/tahmpi.1 %D%/tahmpi-policy.5 %D%/tahmpi.7
